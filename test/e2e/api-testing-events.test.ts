// Events around a testing and landing queue: people push, pause and restart, and servers die.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertLanded } from './ci.ts';
import { makeFolder, until } from './harness.ts';
import { openProcess, useServer } from './test-queue.ts';

describe('events around the queue', { concurrency: 4 }, () => {
  const { aQueue } = useServer();

  test('a paused queue keeps what has passed, and lands it when it is resumed [L5] [V11]', async () => {
    const queue = await aQueue();
    const [a, b] = (await queue.submitAll(2)) as [number, number];
    await queue.ci.untilRuns([`${a}`, `${b} on ${a}`]);
    await queue.update({ state: 'PAUSED' });
    await queue.ci.pass(a);
    assert.equal((await queue.get(a)).state, 'TESTS_PASSED');
    const { explanation } = await queue.get(a, { includeExplanation: true });
    assert.equal(explanation?.reasons[0]?.code, 'QUEUE_PAUSED');
    await queue.ci.fail(b);
    await queue.ci.untilState(b, 'FAILED');
    assert.deepEqual(await queue.ci.landed(), ['Begin']);
    await queue.update({ state: 'RUNNING' });
    await assertLanded(queue, await queue.ci.untilState(a, 'MERGED'));
  });

  test('a draining queue lands its entries [L5] [Q3]', async () => {
    const queue = await aQueue();
    const [a] = (await queue.submitAll(1)) as [number];
    await queue.update({ state: 'DRAINING' });
    const late = await queue.openPullRequest();
    assert.equal((await queue.submit(late)).state, 'NOT_READY');
    await queue.ci.pass(a);
    await assertLanded(queue, await queue.ci.untilState(a, 'MERGED'));
    assert.equal((await queue.get(late)).state, 'NOT_READY');
  });

  test('a push by somebody else has everything tested again, on top of it [C25] [C6]', async () => {
    const queue = await aQueue();
    const [a, b] = (await queue.submitAll(2)) as [number, number];
    const old = await queue.ci.untilRuns([`${a}`, `${b} on ${a}`]);
    const foreign = await queue.git.commit('main', { files: { 'foreign.txt': 'f\n' }, message: 'By hand' });
    for (const { testRunId } of old) {
      const isAbandoned = async () => (await queue.ci.read(testRunId)).status === 'CANCELLED' || undefined;
      await until(`the run ${testRunId} is abandoned`, 15_000, isAbandoned);
    }
    const [next] = await queue.ci.untilRuns([`${a}`, `${b} on ${a}`]);
    assert.equal(await queue.git.git(['rev-parse', `${next?.testBranchSha}~1`]), foreign);
    assert.ok((await queue.ci.storyOf(b)).includes('PENDING MANUAL_PUSH_TO_TARGET_BRANCH'));
    await queue.ci.pass(b);
    await queue.ci.pass(a);
    for (const number of [a, b]) await assertLanded(queue, await queue.ci.untilState(number, 'MERGED'));
    assert.equal((await queue.get(a)).landed?.base, foreign);
  });

  test('a push to a pull request cancels it, and those on it are tested again without it [E8] [C5]', async () => {
    const queue = await aQueue();
    const [a, b] = (await queue.submitAll(2)) as [number, number];
    await queue.ci.untilRuns([`${a}`, `${b} on ${a}`]);
    await queue.push(a);
    await queue.ci.untilState(a, 'CANCELLED');
    assert.equal((await queue.ci.storyOf(a)).at(-1), 'CANCELLED PR_PUSHED_TO');
    await queue.ci.untilRuns([`${b}`]);
    assert.ok((await queue.ci.storyOf(b)).includes('PENDING PREREQUISITE_MERGE_ITEM_CANCELLED'));
    await queue.ci.pass(b);
    await assertLanded(queue, await queue.ci.untilState(b, 'MERGED'));
    await queue.submit(a);
    await queue.ci.pass(a);
    await assertLanded(queue, await queue.ci.untilState(a, 'MERGED'));
  });

  test('a push between pass and landing does not land unseen [L6]', async () => {
    const queue = await aQueue();
    const [a] = (await queue.submitAll(1)) as [number];
    const run = await queue.ci.runOf(a);
    await queue.push(a);
    await queue.ci.report(run, 'SUCCESS');
    const left = await queue.untilEntry(a, (entry) => entry.isCurrentlySubmittedToQueue === false);
    assert.ok(left.state === 'FAILED' || left.state === 'CANCELLED', left.state);
    assert.deepEqual(await queue.ci.landed(), ['Begin']);
  });

  test('cancelled while others are tested on it, they go on without it [C5]', async () => {
    const queue = await aQueue();
    const [a, b] = (await queue.submitAll(2)) as [number, number];
    await queue.ci.untilRuns([`${a}`, `${b} on ${a}`]);
    await queue.api.ok('cancelPullRequest', queue.entry(a));
    await queue.ci.untilRuns([`${b}`]);
    await queue.ci.pass(b);
    await assertLanded(queue, await queue.ci.untilState(b, 'MERGED'));
  });
});

describe('a server that dies', () => {
  test('in the middle of its work goes on where it was, and loses and doubles nothing [D2] [I3]', async (t) => {
    const SLUICE_DATA = await makeFolder();
    const { server: first, aQueue } = await openProcess(t, { SLUICE_DATA });
    const queue = await aQueue({ concurrency: 4 });
    const [a, b, c] = (await queue.submitAll(3)) as [number, number, number];
    const runs = await queue.ci.untilRuns([`${a}`, `${b} on ${a}`, `${c} on ${a},${b}`]);
    await queue.ci.pass(c);
    await queue.ci.pass(b);
    // Killed while A and everything after it are landing.
    await queue.ci.pass(a);
    first.child.kill('SIGKILL');
    await first.exited;
    await openProcess(t, { SLUICE_DATA, SLUICE_PORT: String(first.port) });
    for (const [index, number] of [a, b, c].entries()) {
      const entry = await queue.ci.untilState(number, 'MERGED');
      await assertLanded(queue, entry);
      assert.equal(entry.landed?.testRunId, runs[index]?.testRunId);
    }
    assert.equal((await queue.ci.landed()).length, 4);
    const [d] = (await queue.submitAll(1)) as [number];
    await queue.ci.pass(d);
    await assertLanded(queue, await queue.ci.untilState(d, 'MERGED'));
  });
});

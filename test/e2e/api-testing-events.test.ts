// Events around a testing and landing queue: people push, pause and restart, and servers die.
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { assertLanded, createCi } from './ci.ts';
import { createQueue, makeFolder, startServer, type TestQueue, until, useServer } from './harness.ts';

async function submitAll(queue: TestQueue, count: number): Promise<readonly number[]> {
  const numbers: number[] = [];
  for (let index = 0; index < count; index++) numbers.push(await queue.openPullRequest());
  for (const number of numbers) await queue.submit(number);
  return numbers;
}

describe('events around the queue', { concurrency: 4 }, () => {
  const { aQueue } = useServer();

  test('a paused queue keeps what has passed, and lands it when it is resumed [L5] [V11]', async () => {
    const queue = await aQueue();
    const ci = createCi(queue);
    const [a, b] = (await submitAll(queue, 2)) as [number, number];
    await ci.untilRuns([`${a}`, `${b} on ${a}`]);
    await queue.update({ state: 'PAUSED' });
    await ci.pass(a);
    assert.equal((await queue.get(a)).state, 'TESTS_PASSED');
    const { explanation } = await queue.get(a, { includeExplanation: true });
    assert.equal(explanation?.reasons[0]?.code, 'QUEUE_PAUSED');
    await ci.fail(b);
    await ci.untilState(b, 'FAILED');
    assert.deepEqual(await ci.landed(), ['Begin']);
    await queue.update({ state: 'RUNNING' });
    await assertLanded(queue, await ci.untilState(a, 'MERGED'));
  });

  test('a draining queue lands what is in it [L5] [Q3]', async () => {
    const queue = await aQueue();
    const ci = createCi(queue);
    const [a] = (await submitAll(queue, 1)) as [number];
    await queue.update({ state: 'DRAINING' });
    const late = await queue.openPullRequest();
    assert.equal((await queue.submit(late)).state, 'NOT_READY');
    await ci.pass(a);
    await assertLanded(queue, await ci.untilState(a, 'MERGED'));
    assert.equal((await queue.get(late)).state, 'NOT_READY');
  });

  test('a push by somebody else has everything tested again, on top of it [C25] [C6]', async () => {
    const queue = await aQueue();
    const ci = createCi(queue);
    const [a, b] = (await submitAll(queue, 2)) as [number, number];
    const old = await ci.untilRuns([`${a}`, `${b} on ${a}`]);
    const foreign = await queue.git.commit('main', { files: { 'foreign.txt': 'f\n' }, message: 'By hand' });
    for (const { testRunId } of old) {
      const isAbandoned = async () => (await ci.read(testRunId)).status === 'CANCELLED' || undefined;
      await until(`the run ${testRunId} is abandoned`, 15_000, isAbandoned);
    }
    const [next] = await ci.untilRuns([`${a}`, `${b} on ${a}`]);
    assert.equal(await queue.git.git(['rev-parse', `${next?.testBranchSha}~1`]), foreign);
    assert.ok((await ci.storyOf(b)).includes('PENDING MANUAL_PUSH_TO_TARGET_BRANCH'));
    await ci.pass(b);
    await ci.pass(a);
    for (const number of [a, b]) await assertLanded(queue, await ci.untilState(number, 'MERGED'));
    assert.equal((await queue.get(a)).landed?.base, foreign);
  });

  test('a push to a pull request cancels it, and those on it are tested again without it [E8] [C5]', async () => {
    const queue = await aQueue();
    const ci = createCi(queue);
    const [a, b] = (await submitAll(queue, 2)) as [number, number];
    await ci.untilRuns([`${a}`, `${b} on ${a}`]);
    await queue.push(a);
    await ci.untilState(a, 'CANCELLED');
    assert.equal((await ci.storyOf(a)).at(-1), 'CANCELLED PR_PUSHED_TO');
    await ci.untilRuns([`${b}`]);
    assert.ok((await ci.storyOf(b)).includes('PENDING PREREQUISITE_MERGE_ITEM_CANCELLED'));
    await ci.pass(b);
    await assertLanded(queue, await ci.untilState(b, 'MERGED'));
    await queue.submit(a);
    await ci.pass(a);
    await assertLanded(queue, await ci.untilState(a, 'MERGED'));
  });

  test('a push between pass and landing does not land unseen [L6]', async () => {
    const queue = await aQueue();
    const ci = createCi(queue);
    const [a] = (await submitAll(queue, 1)) as [number];
    const run = await ci.runOf(a);
    await queue.push(a);
    await ci.report(run, 'SUCCESS');
    const left = await queue.untilEntry(a, (entry) => entry.isCurrentlySubmittedToQueue === false);
    assert.ok(left.state === 'FAILED' || left.state === 'CANCELLED', left.state);
    assert.deepEqual(await ci.landed(), ['Begin']);
  });

  test('cancelled while others are tested on it, they go on without it [C5]', async () => {
    const queue = await aQueue();
    const ci = createCi(queue);
    const [a, b] = (await submitAll(queue, 2)) as [number, number];
    await ci.untilRuns([`${a}`, `${b} on ${a}`]);
    await queue.api.ok('cancelPullRequest', queue.entry(a));
    await ci.untilRuns([`${b}`]);
    await ci.pass(b);
    await assertLanded(queue, await ci.untilState(b, 'MERGED'));
  });
});

describe('a server that dies', () => {
  test('in the middle of its work goes on where it was, and loses and doubles nothing [D2] [I3]', async () => {
    const dataFolder = await makeFolder();
    const first = await startServer({ SLUICE_DATA: dataFolder });
    const queue = await createQueue(first.api, { concurrency: 4 });
    const ci = createCi(queue);
    const [a, b, c] = (await submitAll(queue, 3)) as [number, number, number];
    const runs = await ci.untilRuns([`${a}`, `${b} on ${a}`, `${c} on ${a},${b}`]);
    await ci.pass(c);
    await ci.pass(b);
    // Killed while A and everything after it are landing.
    await ci.pass(a);
    first.child.kill('SIGKILL');
    await first.exited;
    const second = await startServer({ SLUICE_DATA: dataFolder, SLUICE_PORT: String(first.port) });
    for (const [index, number] of [a, b, c].entries()) {
      const entry = await ci.untilState(number, 'MERGED');
      await assertLanded(queue, entry);
      assert.equal(entry.landed?.testRunId, runs[index]?.testRunId);
    }
    assert.equal((await ci.landed()).length, 4);
    const [d] = (await submitAll(queue, 1)) as [number];
    await ci.pass(d);
    await assertLanded(queue, await ci.untilState(d, 'MERGED'));
    await second.stop();
    await queue.close();
    await rm(dataFolder, { recursive: true, force: true });
  });
});

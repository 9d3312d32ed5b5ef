// A branch that is broken by itself: a real server and a real repository, from the views of authors and an operator.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from './harness.ts';
import { sluice } from './kept-sluice.ts';
import { useServer } from './test-queue.ts';

const PATIENCE_MS = 20_000;

describe('a red branch', { timeout: 120_000 }, () => {
  const world = useServer();

  const print = async (...args: readonly string[]) => (await sluice(args, { env: world.server.env })).out;

  it('holds the queue, takes back who was removed for it, and lands a repair [V16] [V17] [V18] [N7] [N13] [N12] [W60]', async () => {
    const queue = await world.aQueue({ concurrency: 1 });
    const [first, second] = [await queue.openPullRequest(), await queue.openPullRequest()];
    for (const number of [first, second]) {
      await queue.submit(number);
      await queue.ci.fail(number);
      await queue.ci.untilState(number, 'FAILED');
    }
    const headRun = await until('the head is tested by itself', PATIENCE_MS, async () =>
      (await queue.ci.runs()).find((run) => run.testBranchSha !== '' && run.requiredStatusesSource !== undefined),
    );
    await queue.ci.report(headRun, 'FAILURE');

    const { explanation } = await queue.ci.untilState(first, 'PENDING');
    assert.match(explanation?.summary ?? '', /the head of main itself fails test/);
    assert.deepEqual((await queue.ci.storyOf(first)).slice(-2), [
      'FAILED TEST_RUN_REQUIRED_STATUS_FAILED',
      'PENDING TARGET_BRANCH_AT_FAULT',
    ]);
    await queue.ci.untilState(second, 'PENDING');
    const held = await queue.getQueue();
    assert.equal(held.held?.kind, 'RED_BRANCH');
    assert.deepEqual(held.held?.checks, ['test']);
    assert.ok(Date.parse(held.held?.nextTestAt ?? '') > Date.parse(held.held?.since ?? ''));
    assert.match(await print('status'), /The queue is held: the head of main itself fails test/);
    assert.match(await print('queue', 'show', queue.name, 'main'), / HELD\nThe queue is held: /);
    assert.match(await print('queue', 'list'), new RegExp(`^${queue.name}\\tmain\\tHELD\\t`, 'm'));
    assert.equal(held.state, 'RUNNING', 'the states of the API stay as they are');
    const labels = `repo="acme/${queue.repo.name}",branch="main",repo_host="local"`;
    assert.ok((await queue.api.send('getMergeQueueMetrics')).text.includes(`mq_queue_held{${labels}} 1\n`));
    const { trunk } = world.server;
    assert.equal('held' in (await trunk.ok<object>('getQueue', queue.ref)), false);

    const repair = await queue.submitOne();
    await queue.ci.pass(repair);
    await queue.ci.untilState(repair, 'MERGED');
    await queue.ci.untilRuns([`${first}`]);
    const after = await queue.getQueue();
    assert.equal(after.held, undefined);
    assert.equal(after.alarms.find(({ code }) => code === 'RED_TARGET')?.endedAt !== undefined, true);
    await queue.ci.pass(first);
    await queue.ci.pass(second);
    await queue.ci.untilState(second, 'MERGED');
    assert.ok((await queue.api.send('getMergeQueueMetrics')).text.includes(`mq_queue_held{${labels}} 0\n`));
  });
});

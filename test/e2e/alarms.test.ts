// A push to the target branch of an idle queue: a real server and a real repository, from the operator's view.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from './harness.ts';
import { sluice } from './kept-sluice.ts';
import { useServer } from './test-queue.ts';

/** Longer than a round of the audit. */
const ROUND_MS = 40_000;

describe('a push past an idle queue', { timeout: 90_000 }, () => {
  const world = useServer();

  const print = async (...args: readonly string[]) => (await sluice(args, { env: world.server.env })).out;

  it('is an alarm that everybody sees, once [N1] [N2] [N10]', async () => {
    const queue = await world.aQueue();
    const quiet = await world.aQueue();
    assert.deepEqual((await queue.getQueue()).alarms, []);
    const before = await queue.git.git(['rev-parse', 'main']);
    const change = { files: { 'a.txt': 'hot\n' }, message: 'Hot \u001b[31mfix', author: 'Eve' };
    const head = await queue.git.commit('main', change);

    const [alarm, ...others] = await until('the alarm is raised', ROUND_MS, async () => {
      const { alarms } = await queue.getQueue();
      return alarms.length === 0 ? undefined : alarms;
    });
    assert.deepEqual(others, []);
    assert.equal(alarm?.code, 'FOREIGN_PUSH');
    for (const part of [before, head, '1 commit', 'Eve']) assert.ok(alarm?.text.includes(part), alarm?.text);

    const { name } = queue;
    const status = await print('status');
    assert.match(status, new RegExp(`Alarms of ${name} main\\n${alarm?.at} +FOREIGN_PUSH .*${head}`));
    assert.doesNotMatch(status, new RegExp(`Alarms of ${quiet.name}`));
    assert.ok(!status.includes('\u001b'));
    assert.match(await print('queue', 'show', name, 'main'), /FOREIGN_PUSH/);

    const metrics = (await queue.api.send('getMergeQueueMetrics')).text;
    const labels = `repo="acme/${queue.repo.name}",branch="main",repo_host="local",code="foreign_push"`;
    assert.ok(metrics.includes(`mq_alarms_total{${labels}} 1\n`), metrics);

    const { trunk } = world.server;
    assert.equal('alarms' in (await trunk.ok<object>('getQueue', queue.ref)), false);
    const { queues } = await trunk.ok<{ queues: object[] }>('listQueues', {});
    assert.ok(queues.every((each) => !('alarms' in each)));
    assert.doesNotMatch((await trunk.send('getMergeQueueMetrics')).text, /alarms/);

    // The queue is not idle any more, sees its target branch, and raises no second alarm.
    await queue.submit(await queue.openPullRequest());
    assert.equal((await queue.getQueue()).alarms.length, 1);
  });
});

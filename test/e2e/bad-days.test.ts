// People break the refs of a repository.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Sha } from '../../src/lib/sha.ts';
import { type BadDay, onBadDays, statusOf } from './bad-days.ts';
import { assertLanded } from './ci.ts';
import { until } from './harness.ts';
import { useServer } from './test-queue.ts';

/** The refs of a candidate while it is tested: its commit's, and its branch. */
function untilOwnRefs({ git }: BadDay): Promise<readonly string[]> {
  return until('the candidate has its refs', 15_000, async () => {
    const text = await git.git(['for-each-ref', '--format=%(refname)', 'refs/heads/sluice', 'refs/sluice']);
    const refs = text.split('\n');
    return refs.length === 2 ? refs : undefined;
  });
}

describe('refs that others move', () => {
  const fixture = useServer();
  const aQueue = async (settings = {}) => onBadDays(await fixture.aQueue(settings));
  const untilAlarm = (queue: BadDay, code: string) =>
    until(`there is an alarm ${code}`, 15_000, async () => ((await queue.alarms()).includes(code) ? true : undefined));

  it('a target that is deleted is waited for, and work goes on when it is there again [C6]', async () => {
    const queue = await aQueue();
    const head = await queue.git.git(['rev-parse', 'main']);
    const number = await queue.submitOne();
    await queue.ci.runOf(number);
    await queue.git.deleteBranch('main');
    await queue.untilReason(number, 'TARGET_UNKNOWN', /main does not exist any more/);
    await untilAlarm(queue, 'TARGET_GONE');
    const text = await statusOf(fixture.server, queue, number);
    assert.match(text, /State +.*\(PENDING\)/);
    assert.match(
      text,
      /The branch main does not exist any more\.\nNext: It is tested automatically as soon as the branch main exists\./,
    );
    await queue.git.createBranch('main', head as Sha);
    await assertLanded(queue, await queue.untilMerged(number));
  });

  it('a tested pull request lands as tested, also when its refs and its commit are gone [L3] [C11]', async () => {
    const queue = await aQueue();
    const number = await queue.submitOne();
    const run = await queue.ci.runOf(number);
    for (const ref of await untilOwnRefs(queue)) await queue.git.git(['update-ref', '-d', ref]);
    await queue.git.git(['prune', '--expire=now']);
    await queue.ci.report(run, 'SUCCESS');
    const entry = await queue.untilMerged(number);
    await assertLanded(queue, entry);
    assert.equal(entry.landed?.pushedTree, entry.landed?.testedTree);
    await queue.git.git(['fsck', '--strict']);
  });
});

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

  it('a target pushed to a moment before a landing is tested on first [C6] [L1]', async () => {
    const queue = await aQueue();
    const number = await queue.submitOne();
    const run = await queue.ci.runOf(number);
    const pushed = await queue.git.commit('main', { files: { 'pushed.txt': 'x\n' }, message: 'Pushed by hand' });
    await queue.ci.report(run, 'SUCCESS');
    const entry = await queue.untilMerged(number);
    await assertLanded(queue, entry);
    assert.equal(entry.landed?.base, pushed);
    assert.notEqual(entry.landed.testRunId, run.testRunId);
    assert.deepEqual(await queue.ci.landed(), ['Begin', 'Pushed by hand', `Change 1 (#${number})`]);
    await untilAlarm(queue, 'FOREIGN_PUSH');
  });

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

  it('a target that is deleted while its queue is empty is waited for too [E2]', async () => {
    const queue = await aQueue();
    const number = await queue.openPullRequest();
    const head = await queue.git.git(['rev-parse', 'main']);
    await queue.git.deleteBranch('main');
    const entry = await queue.submit(number);
    assert.equal(entry.state, 'NOT_READY');
    await queue.untilReason(number, 'NOT_MERGEABLE', /the target branch does not exist/);
    await queue.git.createBranch('main', head as Sha);
    await assertLanded(queue, await queue.untilMerged(number));
  });

  it('a pull request that was pushed to a moment before its landing does not land [E8] [L6]', async () => {
    const queue = await aQueue();
    const before = await queue.git.git(['rev-parse', 'main']);
    const number = await queue.submitOne();
    const run = await queue.ci.runOf(number);
    await queue.push(number);
    await queue.ci.report(run, 'SUCCESS');
    const entry = await queue.untilEntry(number, ({ isCurrentlySubmittedToQueue }) => !isCurrentlySubmittedToQueue);
    assert.notEqual(entry.state, 'MERGED');
    const last = (await queue.ci.storyOf(number)).at(-1) ?? '';
    assert.match(last, /^(?:FAILED PR_UPDATED_AT_MERGE_TIME|CANCELLED PR_PUSHED_TO)$/);
    assert.equal(await queue.git.git(['rev-parse', 'main']), before);
    await queue.submit(number);
    await assertLanded(queue, await queue.untilMerged(number));
  });

  it('a pull request whose ref is forced to another history can be submitted, and says why it waits [E2]', async () => {
    const queue = await aQueue();
    const number = await queue.submitOne();
    await queue.ci.runOf(number);
    const good = await queue.headOf(number);
    await queue.git.commitTo(`refs/pull/${number}/head`, undefined, { files: { 'b.txt': 'b\n' } });
    await queue.ci.untilState(number, 'CANCELLED');
    assert.equal((await queue.submit(number)).state, 'NOT_READY');
    await queue.untilReason(number, 'NOT_MERGEABLE', /no commit in common/);
    await queue.git.git(['update-ref', `refs/pull/${number}/head`, good]);
    await assertLanded(queue, await queue.untilMerged(number));
  });

  it('a test branch that is deleted while it is tested keeps nothing from landing [C11]', async () => {
    const queue = await aQueue();
    const number = await queue.submitOne();
    const run = await queue.ci.runOf(number);
    for (const ref of await untilOwnRefs(queue)) {
      if (ref.startsWith('refs/heads/')) await queue.git.git(['update-ref', '-d', ref]);
    }
    await queue.ci.report(run, 'SUCCESS');
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

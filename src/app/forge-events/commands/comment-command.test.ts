import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Remark } from '../../../../test/fake/pull-request-pages.ts';
import { madeForEach } from '../../../../test/helpers/made.ts';
import { PageWorld } from '../../../../test/worlds/shell/page-world.ts';
import type { PullRequestFacts } from '../../../engine/model/pull-request.ts';
import { findEntry } from '../../../engine/model/queue.ts';
import type { Sha } from '../../../lib/sha.ts';
import { rememberHead } from '../../pr-page/note.ts';
import { runCommentCommand } from './comment-command.ts';

const DAY_MS = 24 * 60 * 60_000;

const world = madeForEach(() => PageWorld.create());

/** A person comments, and the webhook arrives. */
async function say(pr: PullRequestFacts, remark: Remark | string): Promise<string> {
  const given = typeof remark === 'string' ? { body: remark } : remark;
  const hint = world.pages.say(pr, world.now, given);
  return runCommentCommand(world.app, { repository: await world.repository() }, hint);
}

/** Our comments beside the one about the state. */
function repliesOn({ number }: PullRequestFacts): string[] {
  return world.pages.textsOn(number).filter((text) => !text.includes('<!-- sluice:queue -->'));
}

async function entryOf({ number }: PullRequestFacts) {
  const found = await world.app.queues.find(world.queueId);
  return found && findEntry(found.queue, number);
}

describe('the runner of commands in comments', () => {
  it('submits, with the facts that were read with the comment, in the name of its author [G136] [G54]', async () => {
    world.forge.isBroken = false;
    const pr = world.open({ title: 'As the comment had it' });
    assert.equal(await say(pr, 'Fine!\n/sluice merge -p high --no-batch'), 'remember');
    const entry = await entryOf(pr);
    assert.deepEqual([entry?.priority.name, entry?.noBatch, entry?.pr.title], ['high', true, 'As the comment had it']);
    await world.pagesUpdated();
    assert.match(world.pages.textsOn(pr.number)[0] ?? '', /Being tested/);
    const [first] = (await world.store.queueRecords.listTransitions(entry?.id ?? '')).toReversed();
    assert.match(first?.body ?? '', /"reason":"USER_REQUESTED","text":"Submitted by @ada\."/);
    assert.deepEqual([repliesOn(pr), world.pages.reactions], [[], []]);
  });

  it('cancels and restarts [G135]', async () => {
    const pr = await world.submit();
    await world.pagesUpdated();
    await say(pr, '/trunk restart');
    await world.pagesUpdated();
    const restarted = await entryOf(pr);
    assert.deepEqual(restarted?.place, { kind: 'line', candidate: 2 });
    assert.match(world.pages.textsOn(pr.number)[0] ?? '', /Its tests were restarted by `@ada`\./);
    await say(pr, '/trunk cancel');
    await world.pagesUpdated();
    assert.equal(await world.stateOf(pr.number), 'CANCELLED');
    assert.match(world.pages.textsOn(pr.number)[0] ?? '', /Removed from the queue by `@ada`/);
    assert.deepEqual(repliesOn(pr), []);
  });

  it('submits only to the base that the pull request had when it was said [G81]', async () => {
    const pr = world.open();
    const at = world.now + 2_000;
    const eve = { login: 'eve', isBot: false, isOwn: false };
    await say(pr, { body: '/sluice merge', retarget: { at, by: eve } });
    assert.equal(await world.stateOf(pr.number), undefined);
    assert.match(repliesOn(pr)[0] ?? '', /targeted another branch.+`main`/);
    await world.pass(5_000);
    await say(pr, { body: '/sluice merge', retarget: { at, by: eve } });
    assert.equal(await world.stateOf(pr.number), 'TESTING');
  });

  it('takes a pull request out of the queue it is in, also after its base has changed [G136]', async () => {
    const pr = world.open({ mergeability: 'NOT_MERGEABLE' });
    await world.enter(pr);
    const moved = { ...pr, baseBranch: 'elsewhere' };
    await world.observe(moved);
    await say(moved, '/sluice cancel');
    assert.equal(await world.stateOf(pr.number), 'CANCELLED');
  });

  it('answers a refusal in words for people [G51]', async () => {
    const pr = world.open();
    await say(pr, '/sluice cancel');
    await say({ ...pr, status: 'draft' }, '/sluice merge');
    await say({ ...pr, status: 'merged' }, '/sluice merge');
    await say({ ...pr, baseBranch: 'next' }, '/sluice merge');
    await say({ ...pr, baseBranch: 'next' }, '/trunk merge');
    await say(pr, '/sluice merge --direct');
    await say(pr, '/sluice help');
    const [never, draft, merged, base, direct, help, ...more] = repliesOn(pr);
    assert.match(never ?? '', /was never in the merge queue/);
    assert.match(draft ?? '', /is a draft\. Mark it ready for review first/);
    assert.match(merged ?? '', /already merged into main/);
    assert.match(base ?? '', /no merge queue for `next`/);
    assert.match(direct ?? '', /`--direct` is not supported/);
    assert.match(help ?? '', /`\/sluice merge` puts this pull request into the merge queue/);
    assert.deepEqual(more, []);
    assert.equal(await entryOf(pr), undefined);
  });

  it('obeys only who may write now [G54]', async () => {
    const pr = world.open();
    for (const permission of ['none', 'read', 'triage'] as const) {
      await say(pr, { body: '/sluice merge', permission, login: 'mallory' });
    }
    assert.equal(await entryOf(pr), undefined);
    assert.equal(repliesOn(pr).length, 3);
    assert.match(repliesOn(pr)[0] ?? '', /`mallory` has no write access to this repository/);
    await say(pr, { body: '/sluice merge', permission: 'maintain' });
    assert.notEqual(await entryOf(pr), undefined);
  });

  it('never obeys itself, and bots only where they are allowed; none of them is answered [G137] [G55] [A78]', async () => {
    await world.update({ allowedBotSubmitters: ['Renovate'] });
    const pr = world.open();
    await say(pr, { body: '/sluice merge', isOwn: true, isBot: true, login: 'sluice[bot]' });
    for (const body of ['<!-- sluice:queue -->\n/sluice merge', '<!-- sluice:reply 7 -->\n/sluice merge'])
      await say(pr, { body, isOwn: true });
    await say(pr, { body: '/sluice merge', isBot: true, login: 'other[bot]' });
    await say(pr, { body: '/sluice help', isBot: true, login: 'renovate[bot]' });
    await say(pr, { body: '/sluice what', isBot: true, login: 'renovate[bot]' });
    await say({ ...pr, baseBranch: 'x' }, { body: '/sluice merge', isBot: true, login: 'renovate[bot]' });
    assert.equal(await entryOf(pr), undefined);
    // Forges give apps no such permission: the queue's settings decide.
    await say(pr, { body: '/sluice merge', isBot: true, login: 'renovate[bot]', permission: 'none' });
    assert.deepEqual((await entryOf(pr))?.submitter, { id: '@renovate[bot]', name: '@renovate[bot]', isAgent: true });
    assert.deepEqual([world.pages.comments.size, world.pages.reactions], [0, []]);
  });

  it('runs commands of the person whose token it uses, but not its own comments [G55]', async () => {
    const pr = world.open();
    await say(pr, { body: '<!-- sluice:reply 7 -->\n/sluice merge', isOwn: true });
    assert.equal(await entryOf(pr), undefined);
    await say(pr, { body: '/sluice merge', isOwn: true });
    assert.notEqual(await entryOf(pr), undefined);
  });

  it('passes over comments that are old, changed, gone or say nothing to it [G136]', async () => {
    const pr = world.open();
    await say(pr, { body: '/sluice merge', createdAt: world.now - DAY_MS - 1 });
    await say(pr, { body: '/sluice merge', isEdited: true });
    await say(pr, 'Nice!');
    const gone = { number: pr.number, commentId: '1', nodeId: 'x' };
    assert.equal(await runCommentCommand(world.app, { repository: await world.repository() }, gone), 'remember');
    assert.deepEqual([await entryOf(pr), world.pages.acts], [undefined, []]);
  });

  it('passes over commands where they are switched off [G47]', async () => {
    await world.update({ commandsEnabled: false });
    const pr = world.open();
    await say(pr, '/sluice merge');
    await say(pr, '/sluice what');
    assert.deepEqual([await entryOf(pr), world.pages.acts], [undefined, []]);
  });

  it('gives a sign where no comment would show that it obeyed [G136]', async () => {
    await world.update({ commentsEnabled: false });
    const pr = world.open();
    await say(pr, '/sluice merge');
    assert.equal(world.pages.reactions.length, 1);
    await world.update({ commentsEnabled: true });
    const queued = await world.submit();
    await world.pagesUpdated();
    await say(queued, '/sluice merge -p low');
    assert.equal((await entryOf(queued))?.priority.name, 'low');
    assert.equal(world.pages.reactions.length, 2);
  });

  it('runs a command once, also if the confirmation fails [G136]', async () => {
    await world.update({ commentsEnabled: false });
    const pr = await world.submit();
    await world.pagesUpdated();
    world.pages.failing.add('react');
    assert.equal(await say(pr, '/sluice restart'), 'remember');
  });

  it('has a fork tested only at a head that could have been seen [G56]', async () => {
    const pr = world.open({ isHeadUntrusted: true });
    const key = { repositoryId: (await world.repository()).id, prNumber: pr.number };
    await world.pass(1_000);
    await say(pr, '/sluice merge');
    assert.equal(await entryOf(pr), undefined);
    assert.match(repliesOn(pr)[0] ?? '', /comes from a fork.*Look at that commit/s);
    await world.pass(1_000);
    await say(pr, '/sluice merge');
    assert.equal((await entryOf(pr))?.pr.headSha, pr.headSha);
    await world.cancel(pr.number);
    const pushed = { ...pr, headSha: 'e'.repeat(40) as Sha };
    const before = world.now;
    await world.pass(1_000);
    await rememberHead(world.app, key, { sha: pushed.headSha, at: world.now });
    await say(pushed, { body: '/sluice merge', createdAt: before });
    assert.equal(await entryOf(pushed), undefined);
  });

  it('has no fork tested at a head that was pushed after the comment, also where our clock is behind [G83]', async () => {
    const repository = await world.repository();
    const pr = world.open({ isHeadUntrusted: true });
    const [said, pushed] = [world.now + 60_000, world.now + 65_000];
    const remark = { body: '/sluice merge', changedAt: pushed };
    const first = world.pages.say(pr, world.now, { ...remark, createdAt: said });
    const second = world.pages.say(pr, world.now, { ...remark, createdAt: said + 3_000 });
    // A failed answer must not make the next try believe the command.
    world.pages.failing.add('comment');
    await assert.rejects(runCommentCommand(world.app, { repository }, first));
    world.pages.failing.clear();
    for (const hint of [first, second]) await runCommentCommand(world.app, { repository }, hint);
    assert.equal(await entryOf(pr), undefined);
    await say(pr, { ...remark, createdAt: pushed + 1_000 });
    assert.equal((await entryOf(pr))?.pr.headSha, pr.headSha);
  });

  it('does not test a fork at a head that returned after a person saw another one [G139]', async () => {
    const evil = world.open({ isHeadUntrusted: true });
    const key = { repositoryId: (await world.repository()).id, prNumber: evil.number };
    const good = { ...evil, headSha: 'e'.repeat(40) as Sha };
    for (const { headSha } of [evil, good]) {
      await rememberHead(world.app, key, { sha: headSha, at: world.now });
      await world.pass(60_000);
    }
    // The comment meant the good commit; the evil one is pushed back before the comment is read.
    await say(evil, '/sluice merge');
    assert.equal(await entryOf(evil), undefined);
    assert.match(repliesOn(evil)[0] ?? '', /Look at that commit/);
  });

  it('says a thing once, also when its answer got lost, and not without end [G51] [G138]', async () => {
    const pr = world.open();
    const hint = world.pages.say(pr, world.now, { body: '/sluice what' });
    const repository = await world.repository();
    world.pages.lost = 'comment';
    await assert.rejects(runCommentCommand(world.app, { repository }, hint), /The answer got lost/);
    assert.equal(await runCommentCommand(world.app, { repository }, hint), 'remember');
    assert.equal(repliesOn(pr).length, 1);
    for (let count = 0; count < 30; count += 1) await say(pr, '/sluice what');
    assert.equal(repliesOn(pr).length, 10);
    await world.pass(2 * 60 * 60_000);
    await say(pr, '/sluice what');
    assert.equal(repliesOn(pr).length, 11);
  });

  it('shows quoted input as text [G46] [G51]', async () => {
    const pr = world.open();
    await say(pr, '/sluice <img/src=x>@everyone');
    await say(pr, '/sluice merge -p `@everyone`');
    assert.match(repliesOn(pr)[0] ?? '', /`<img\/src=x>@everyone` is no command/);
    assert.match(repliesOn(pr)[1] ?? '', /`` `@everyone` `` is no priority/);
  });
});

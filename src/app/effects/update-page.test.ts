import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { madeForEach } from '../../../test/helpers/made.ts';
import { PageWorld } from '../../../test/worlds/shell/page-world.ts';
import type { PrNumber, PullRequestFacts } from '../../engine/model/pull-request.ts';
import type { BuildRequest } from '../../forge/forge.ts';
import type { Sha } from '../../lib/sha.ts';
import { changeNote, readNote } from '../pr-page/note.ts';

const SILENT = { commentsEnabled: false, statusCheckEnabled: false };
const OTHER_HEAD = 'f'.repeat(40) as Sha;

const world = madeForEach(() => PageWorld.create());

/** Within this time a lease of a page that was left behind ends, and another server's worker polls and writes. */
const SETTLED_MS = 10 * 60_000;

/** Commits are built only once the returned function is called. */
function holdBuilds(): () => void {
  const { forge } = world;
  const { promise, resolve } = Promise.withResolvers<void>();
  const build = forge.buildCandidate.bind(forge);
  Object.assign(forge, { buildCandidate: (request: BuildRequest) => promise.then(() => build(request)) });
  return resolve;
}

/** The server hangs while it writes what follows from `act`, and another takes over. Returns the end of the hang. */
async function hangDuring(act: () => Promise<unknown>): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  world.pages.gate = promise;
  await act();
  await world.pagesUpdated();
  world.pages.gate = undefined;
  world.hang();
  world.startAnother();
  return resolve;
}

/** Submits a pull request, and waits for its page. */
async function submitShown(): Promise<PullRequestFacts> {
  const pr = await world.submit();
  await world.pagesUpdated();
  return pr;
}

/** The first candidate passes, and its pull request lands. */
async function passShown(): Promise<void> {
  await world.report(1, 'ci', 'SUCCESS');
  await world.pagesUpdated();
}

describe('the page of a pull request', () => {
  it('writes one comment and changes it in place, quick changes at once [G141] [G45]', async () => {
    const pr = await world.submit();
    await world.pass(1_000);
    assert.deepEqual(world.pages.acts, []);
    await world.pagesUpdated();
    assert.deepEqual(world.pages.acts, ['comment', 'check']);
    assert.match(textOn(pr.number), /Being tested/);
    await passShown();
    assert.equal(await world.stateOf(pr.number), 'MERGED');
    assert.match(textOn(pr.number), /Landed/);
    assert.deepEqual(world.pages.acts, ['comment', 'check', 'comment', 'check', 'close']);
    assert.equal(world.pages.together, 2);
    assert.deepEqual(await world.effects(), []);
  });

  it('keeps both ids of its comment and check, and goes on with a note that lacks the second id [G45]', async () => {
    const pr = await submitShown();
    const key = { repositoryId: (await world.repository()).id, prNumber: pr.number };
    const { comment, checks } = await readNote(world.app, key);
    const check = checks[world.queueId];
    assert.ok(check);
    assert.deepEqual([comment?.nodeId, check.nodeId], [`IC_${comment?.id}`, `CR_${check.id}`]);
    await changeNote(world.app, key, (note) => {
      const { nodeId: _, ...old } = check;
      const before = { id: comment?.id, hash: comment?.hash };
      return { ...note, comment: before, checks: { [world.queueId]: old } };
    });
    await passShown();
    assert.match(textOn(pr.number), /Landed/);
    assert.equal(world.pages.checks.size, 1);
    const after = await readNote(world.app, key);
    assert.deepEqual([after.comment?.nodeId, after.checks[world.queueId]?.nodeId], [comment?.nodeId, check.nodeId]);
  });

  it('writes neither twice where the answer to both got lost [G105] [G144]', async () => {
    const pr = await world.submit();
    world.pages.lost = 'both';
    await world.pagesUpdated();
    await world.pass(20_000);
    assert.match(textOn(pr.number), /Being tested/);
    assert.equal(world.pages.checks.size, 1);
    await passShown();
    assert.match(textOn(pr.number), /Landed/);
    assert.deepEqual(conclusionsNow(), ['SUCCESS']);
  });

  it('writes a check anew that is gone, while the comment is changed [G143]', async () => {
    const pr = await submitShown();
    world.pages.checks.clear();
    await passShown();
    assert.match(textOn(pr.number), /Landed/);
    assert.deepEqual(conclusionsNow(), ['SUCCESS']);
  });

  it('writes nothing where nothing differs [G141]', async () => {
    const pr = await submitShown();
    const { length } = world.pages.acts;
    await world.observe({ ...pr, title: 'Another title' });
    await world.send({ kind: 'tests_restart_requested', at: world.now, actor: '@ada', prNumber: pr.number });
    await world.pagesUpdated();
    // The candidate is another one; the check run says the same.
    assert.deepEqual(world.pages.acts.slice(length), ['comment']);
  });

  it('is not written for a step that an earlier update has shown [G141]', async () => {
    await world.update({ concurrency: 1 });
    const [_, second, third] = [await world.submit(), await world.submit(), await world.submit()];
    await world.pass(1_000);
    await world.update({}, 'PAUSED');
    await world.pass(1_000);
    assert.match(textOn(third.number), /number 3 of 3/);
    const { length } = world.pages.acts;
    await world.cancel(second.number);
    await world.pass(1_000);
    assert.deepEqual(world.pages.acts.slice(length), [], 'its second update finds its step shown by the first');
    await world.update({}, 'RUNNING');
    await world.pagesUpdated();
    assert.match(textOn(third.number), /number 2 of 2/);
  });

  it('says that the commit is being built if that takes long, and not any more once it is built [G45]', async () => {
    const build = holdBuilds();
    const pr = await world.submit();
    await world.pass(5_000);
    assert.deepEqual(world.pages.acts, [], 'a usual build is awaited');
    await world.pass(3_000);
    assert.match(textOn(pr.number), /Sluice builds the commit to test/);
    build();
    await world.pagesUpdated();
    assert.match(textOn(pr.number), /Required: `ci`/);
  });

  it('goes on to say that it is queued while its commit is built [G45]', async () => {
    await world.update({ concurrency: 1 });
    await world.submit();
    const pr = await world.submit();
    await world.pass(10_000);
    assert.match(textOn(pr.number), /waiting to be tested/);
    const build = holdBuilds();
    await world.report(1, 'ci', 'SUCCESS');
    await world.pass(20_000);
    assert.match(textOn(pr.number), /waiting to be tested/);
    build();
    await world.pagesUpdated();
    assert.match(textOn(pr.number), /Required: `ci`/);
  });

  it('says nothing that its settings switch off [G47]', async () => {
    await world.update({
      commentsEnabled: false,
      statusCheckEnabled: false,
      mergeMethod: 'MERGE_COMMIT',
    });
    const pr = await submitShown();
    await passShown();
    assert.equal(await world.stateOf(pr.number), 'MERGED');
    assert.deepEqual(world.pages.acts, []);
  });

  it('ends a check that it began, also after checks were switched off [G47] [G143]', async () => {
    await submitShown();
    await world.update({ statusCheckEnabled: false });
    await passShown();
    assert.deepEqual(conclusionsNow(), ['SUCCESS']);
  });

  it('puts a check on the head that was admitted, and on no other [G143]', async () => {
    const pr = world.open({ mergeability: 'NOT_MERGEABLE', blockReasons: ['reviewRequired'] });
    await world.enter(pr);
    await world.pagesUpdated();
    assert.equal(world.pages.checks.size, 0);
    const ready = { ...pr, mergeability: 'MERGEABLE' as const, blockReasons: [] };
    await world.observe(ready);
    await world.pagesUpdated();
    await world.observe({ ...ready, headSha: OTHER_HEAD });
    await world.pagesUpdated();
    const [check, ...more] = world.pages.checks.values();
    assert.deepEqual(more, []);
    assert.deepEqual([check?.name, check?.headSha, check?.conclusion], ['Sluice (main)', pr.headSha, 'CANCELLED']);
    await world.enter({ ...ready, headSha: OTHER_HEAD });
    await world.pass(10_000);
    const heads = [...world.pages.checks.values()].map(({ headSha }) => headSha);
    assert.deepEqual(heads, [pr.headSha, OTHER_HEAD]);
  });

  it('says in its check what it waits for, where it left the line with one that it is built on [G48] [O39]', async () => {
    await world.update({ commentsEnabled: false });
    const lower = await world.submit();
    const upper = await world.submit({ below: [{ number: lower.number, by: 'stated' }] });
    await world.pagesUpdated();
    await world.cancel(lower.number);
    await world.pagesUpdated();
    const check = [...world.pages.checks.values()].find(({ headSha }) => headSha === upper.headSha);
    assert.deepEqual([check?.status, check?.title], ['QUEUED', 'Submitted, not ready yet']);
    assert.match(check?.summary ?? '', /It depends on #\d+, which is not in the queue/);
  });

  it('completes the check run of a submission also if the next one began before the update [G143]', async () => {
    const pr = await submitShown();
    await world.cancel(pr.number);
    await world.enter(pr);
    await world.pagesUpdated();
    assert.deepEqual(statesNow(), ['COMPLETED CANCELLED', 'IN_PROGRESS undefined']);
    const { length } = world.pages.acts;
    await world.pass(10_000);
    assert.equal(world.pages.acts.length, length);
  });

  it('does not write a comment twice whose answer got lost [G144]', async () => {
    const pr = await world.submit();
    world.pages.lost = 'comment';
    await world.pagesUpdated();
    await world.pass(20_000);
    assert.match(textOn(pr.number), /Being tested/);
    assert.deepEqual(world.pages.acts.filter((act) => act === 'find').length, 1);
  });

  it('writes a deleted comment once more, and not again after that [G144]', async () => {
    const pr = await submitShown();
    world.pages.comments.clear();
    await world.cancel(pr.number);
    await world.pagesUpdated();
    assert.match(textOn(pr.number), /Removed from the queue/);
    world.pages.comments.clear();
    await world.enter(pr);
    await world.pagesUpdated();
    assert.deepEqual(world.pages.textsOn(pr.number), []);
    await world.report(2, 'ci', 'SUCCESS');
    await world.pagesUpdated();
    assert.equal(await world.stateOf(pr.number), 'MERGED');
    assert.deepEqual(world.pages.textsOn(pr.number), []);
  });

  it('has its check where the comment fails; the comment is tried again and given up without an alarm [G49]', async () => {
    world.pages.failing.add('comment');
    const pr = await world.submit();
    await world.pass(1_600);
    assert.deepEqual(world.pages.acts, ['check']);
    await world.report(1, 'ci', 'SUCCESS');
    await world.pass(SETTLED_MS);
    assert.equal(await world.stateOf(pr.number), 'MERGED');
    await world.pass(4 * 60 * 60_000);
    assert.deepEqual(await world.effects(), []);
    assert.deepEqual(await world.store.alarms.list([world.queueId], 0, 10), []);
    world.pages.failing.clear();
    await world.enter(await world.submit());
    await world.pagesUpdated();
    assert.equal(world.pages.comments.size, 1);
  });

  it('is updated after a rate limit of any length [G49]', async () => {
    world.pages.refusing.add('comment');
    const pr = await submitShown();
    await world.report(1, 'ci', 'SUCCESS');
    await world.pass(4 * 60 * 60_000);
    assert.equal(await world.stateOf(pr.number), 'MERGED');
    world.pages.refusing.clear();
    await world.pass(SETTLED_MS);
    assert.match(textOn(pr.number), /Landed/);
    assert.deepEqual(await world.effects(), []);
  });

  it('catches up when the forge answers again [G49]', async () => {
    world.pages.failing.add('comment');
    const pr = await world.submit();
    await world.pass(20_000);
    world.pages.failing.clear();
    await world.report(1, 'ci', 'SUCCESS');
    await world.pass(SETTLED_MS);
    assert.match(textOn(pr.number), /Landed/);
  });

  it('keeps no server from stopping, and nothing from landing, where the forge is slow [G49]', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    world.pages.gate = promise;
    const all = [];
    for (let count = 0; count < 12; count += 1) all.push(await world.submit());
    await world.pagesUpdated();
    for (let number = 1; number <= 12; number += 1) await world.report(number, 'ci', 'SUCCESS');
    await world.pass(SETTLED_MS);
    const states = await Promise.all(all.map(({ number }) => world.stateOf(number)));
    assert.ok(states.filter((state) => state === 'MERGED').length >= 5, states.join());
    await world.stop();
    assert.ok((await world.effects()).every(({ kind, attempts }) => kind !== 'update_page' || attempts === 0));
    resolve();
  });

  it('ends with the present state, though a server that was taken for dead writes late [G145] [G45] [G48]', async () => {
    const pr = await submitShown();
    const resolve = await hangDuring(() =>
      world.send({ kind: 'tests_restart_requested', at: world.now, actor: '@ada', prNumber: pr.number }),
    );
    await world.cancel(pr.number);
    await world.pass(SETTLED_MS);
    assert.match(textOn(pr.number), /Removed from the queue/);
    assert.deepEqual(await world.effects(), []);
    resolve();
    await world.pass(SETTLED_MS);
    assert.match(textOn(pr.number), /Removed from the queue/);
    assert.deepEqual(conclusionsNow(), ['CANCELLED']);
  });

  for (const next of ['before', 'after']) {
    it(`ends a check that a server opens late, ${next} the next submission [G145] [G143]`, async () => {
      await world.update({ commentsEnabled: false });
      const blocked = world.open({ mergeability: 'NOT_MERGEABLE', blockReasons: ['reviewRequired'] });
      const ready = { ...blocked, mergeability: 'MERGEABLE' as const, blockReasons: [] };
      await world.enter(blocked);
      await world.pagesUpdated();
      const resolve = await hangDuring(() => world.observe(ready));
      await world.cancel(blocked.number);
      await world.pass(SETTLED_MS);
      if (next === 'after') await world.enter(ready);
      await world.pass(SETTLED_MS);
      const { length } = world.pages.acts;
      resolve();
      await world.pass(SETTLED_MS);
      assert.ok(world.pages.acts.length > length);
      if (next === 'before') {
        assert.deepEqual(statesNow(), ['COMPLETED CANCELLED']);
        await world.enter(ready);
        await world.pass(SETTLED_MS);
      }
      assert.deepEqual(statesNow(), ['COMPLETED CANCELLED', 'IN_PROGRESS undefined']);
    });
  }

  it('takes the label off that a server puts on late that was taken for dead [G145] [G53]', async () => {
    await world.update({ ...SILENT, stateLabelsEnabled: true });
    const pr = world.open();
    const resolve = await hangDuring(() => world.enter(pr));
    await world.cancel(pr.number);
    await world.pass(SETTLED_MS);
    assert.deepEqual([...world.pages.labels], ['sluice-cancelled']);
    resolve();
    await world.pass(SETTLED_MS);
    assert.deepEqual([...world.pages.labels], ['sluice-cancelled']);
  });

  it('is written after an earlier write that arrives late [G145]', async () => {
    await world.update({ mergeMethod: 'MERGE_COMMIT' });
    const pr = await submitShown();
    const { promise, resolve } = Promise.withResolvers<void>();
    world.pages.late = promise;
    await world.send({ kind: 'tests_restart_requested', at: world.now, actor: '@ada', prNumber: pr.number });
    await world.pass(1_600);
    await world.cancel(pr.number);
    const { length } = world.pages.acts;
    await world.pass(10_000);
    resolve();
    await world.pass(0);
    assert.match(textOn(pr.number), /Being tested/);
    await world.pass(10_000);
    assert.match(textOn(pr.number), /Removed from the queue/);
    assert.deepEqual(world.pages.acts.slice(length), ['comment', 'comment', 'check']);
    assert.deepEqual(await world.effects(), []);
  });

  it('makes no second comment and check where those that were sent before arrive late [G105] [G144]', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    world.pages.late = promise;
    const pr = await submitShown();
    await world.pass(8_000);
    resolve();
    await world.cancel(pr.number);
    await world.pass(SETTLED_MS);
    assert.match(textOn(pr.number), /Removed from the queue/);
    assert.deepEqual(statesNow(), ['COMPLETED CANCELLED']);
  });

  for (const queues of [2, 3]) {
    it(`is written once for a change that ${queues} queues tell at the same time [G141] [G145]`, async () => {
      const { all, ids } = await inSeveralQueues(queues, 3);
      world.pace(1_000);
      const { length } = world.pages.acts;
      const told = all.flatMap((pr) =>
        ids.map((id) => world.observe({ ...pr, blockReasons: ['changesRequested'] }, id)),
      );
      await Promise.all(told);
      await world.pass(SETTLED_MS);
      for (const id of ids) assert.deepEqual(await world.effects(id), []);
      for (const pr of all) assert.match(textOn(pr.number), /requested changes/i);
      assert.deepEqual(world.pages.acts.slice(length), ['comment', 'comment', 'comment']);
    });
  }

  it('is up to date in the end, also where each act of the forge takes longer than a lease [G145]', async () => {
    const { all, ids } = await inSeveralQueues(2, 2);
    world.pace(70_000);
    for (const pr of all) {
      for (const id of ids) await world.observe({ ...pr, blockReasons: ['changesRequested'] }, id);
    }
    await world.pass(3 * 60 * 60_000);
    for (const id of ids) assert.deepEqual(await world.effects(id), []);
    for (const pr of all) assert.match(textOn(pr.number), /requested changes/i);
  });

  for (const isFirst of [true, false]) {
    const part = isFirst ? 'creating' : 'changing';
    it(`waits for another update that is ${part} the comment, and not for ever [G141] [G144] [G145]`, async () => {
      const { all, ids } = await inSeveralQueues(2, 1);
      const pr = isFirst ? world.open() : all[0];
      assert.ok(pr);
      const key = { repositoryId: (await world.repository()).id, prNumber: pr.number };
      const lease = { by: 'an attempt', effect: 'another', at: world.now };
      await changeNote(world.app, key, ({ comment, ...note }) => {
        const unknown = { id: comment?.id, hash: undefined };
        return { ...note, comment: unknown, areLabelsUnknown: true, lease };
      });
      for (const id of isFirst ? [] : ids) await world.observe({ ...pr, blockReasons: ['changesRequested'] }, id);
      if (isFirst) await world.enter(pr);
      const pattern = isFirst ? /Being tested/ : /requested changes/i;
      await world.pass(290_000);
      assert.doesNotMatch(textOn(pr.number), pattern);
      await world.pass(30_000);
      assert.match(textOn(pr.number), pattern);
      for (const id of ids) assert.deepEqual(await world.effects(id), []);
    });
  }

  it('is written once after a write that was refused before it was sent [G144]', async () => {
    world.pages.refusing.add('comment').add('check');
    const pr = await world.submit();
    await world.pass(3_000);
    world.pages.refusing.clear();
    await world.pass(SETTLED_MS);
    assert.deepEqual(world.pages.acts, ['comment', 'check']);
    world.pages.refusing.add('comment').add('check');
    await world.cancel(pr.number);
    await world.pass(3_000);
    world.pages.refusing.clear();
    await world.pass(SETTLED_MS);
    assert.deepEqual(world.pages.acts, ['comment', 'check', 'comment', 'check']);
    assert.match(textOn(pr.number), /Removed from the queue/);
    assert.deepEqual(statesNow(), ['COMPLETED CANCELLED']);
  });

  it('keeps the pause after a failed check run while a comment is written again [G145]', async () => {
    const { all, ids } = await inSeveralQueues(2, 1);
    const [pr] = all;
    assert.ok(pr);
    const { promise, resolve } = Promise.withResolvers<void>();
    world.pages.gate = promise;
    world.pages.failing.add('check');
    await world.observe({ ...pr, mergeability: 'MERGEABLE', blockReasons: [] });
    await world.pagesUpdated();
    world.pages.gate = undefined;
    await world.observe({ ...pr, blockReasons: ['changesRequested'] }, ids[1]);
    await world.pass(400_000);
    assert.equal(world.pages.failures, 0);
    resolve();
    await world.pass(0);
    assert.equal(world.pages.failures, 1);
    world.pages.failing.clear();
    await world.pass(20_000);
    assert.match(textOn(pr.number), /Being tested/);
    assert.deepEqual(statesNow(), ['IN_PROGRESS undefined']);
  });

  it('puts a label on that could not be put on at first [G53]', async () => {
    await world.update({ ...SILENT, stateLabelsEnabled: true });
    world.pages.failing.add('labels');
    await submitShown();
    world.pages.failing.clear();
    await world.pass(20_000);
    assert.deepEqual([...world.pages.labels], ['sluice-testing']);
  });

  it('closes a pull request that landed under other commits once, after the comment named them [G52]', async () => {
    await world.update({ mergeMethod: 'SQUASH' });
    const pr = await submitShown();
    await world.report(1, 'ci', 'SUCCESS');
    world.pages.lost = 'close';
    await world.pass(10_000);
    assert.deepEqual(world.pages.closed, [
      { number: pr.number, headSha: pr.headSha },
      { number: pr.number, headSha: pr.headSha },
    ]);
    assert.deepEqual(world.pages.acts.slice(2), ['comment', 'check', 'close', 'close']);
  });

  it('shows the state as a label where that is switched on, and goes on with it afterwards [G53]', async () => {
    await world.update({ stateLabelsEnabled: true });
    await submitShown();
    assert.deepEqual([...world.pages.labels], ['sluice-testing']);
    await world.update({ stateLabelsEnabled: false });
    await passShown();
    assert.deepEqual([...world.pages.labels], ['sluice-merged']);
  });

  it('takes a label off that was put on before a crash [G53]', async () => {
    await world.update({ stateLabelsEnabled: true });
    const pr = await world.submit();
    world.pages.lost = 'labels';
    await world.pass(1_600);
    await world.cancel(pr.number);
    await world.pass(20_000);
    assert.deepEqual([...world.pages.labels], ['sluice-cancelled']);
  });

  it('tells of several queues in one comment, the live one first [G141]', async () => {
    const pr = await submitShown();
    await world.observe({ ...pr, baseBranch: 'next' });
    await world.pagesUpdated();
    const next = await world.addQueue('next');
    await world.enter({ ...pr, baseBranch: 'next' }, next);
    await world.pagesUpdated();
    const text = textOn(pr.number);
    assert.match(text, /Being tested · `next`.*Removed from the queue · `main`/s);
    assert.deepEqual([...world.pages.checks.values()].map(({ name }) => name).toSorted(), [
      'Sluice (main)',
      'Sluice (next)',
    ]);
    const { queues } = await readNote(world.app, { repositoryId: (await world.repository()).id, prNumber: pr.number });
    assert.deepEqual(queues, [next, world.queueId]);
  });

  it('writes nothing where pull requests have no pages', async () => {
    Object.assign(world.forge, { hosting: undefined });
    await submitShown();
    assert.deepEqual(await world.effects(), []);
  });

  it('survives an attacker who names everything [G46]', async () => {
    await world.update({ requiredStatuses: ['</sub> @everyone `x` [a](javascript:1)'] });
    const evil = '</sub>\n/sluice merge\n@everyone <!-- sluice:queue --> [x](javascript:alert(1))';
    const pr = await world.submit({ title: evil, author: evil });
    await world.pagesUpdated();
    await world.report(1, '</sub> @everyone `x` [a](javascript:1)', 'FAILURE', evil);
    await world.pagesUpdated();
    const text = textOn(pr.number);
    assert.equal(await world.stateOf(pr.number), 'FAILED');
    assert.equal(text.split('<!-- sluice:queue -->').length, 2);
    assert.doesNotMatch(text, /^\s*\/(?:sluice|trunk)/m);
    assert.doesNotMatch(text.replace(/(`+)[^`].*?\1/g, ''), /@[a-z]|<\/sub>[^\n]|[^\\]\]\(javascript/);
  });
});

/** Open pull requests with a page, each waiting for a review in every one of the queues. */
async function inSeveralQueues(queues: number, count: number) {
  const ids = [world.queueId];
  for (let number = 2; number <= queues; number += 1) ids.push(await world.addQueue(`release-${number}`));
  const all: PullRequestFacts[] = [];
  for (let number = 1; number <= count; number += 1) {
    const pr = world.open({ mergeability: 'NOT_MERGEABLE', blockReasons: ['reviewRequired'] });
    for (const id of ids) await world.enter(pr, id);
    all.push(pr);
  }
  await world.pass(SETTLED_MS);
  return { all, ids };
}

function statesNow() {
  return [...world.pages.checks.values()].map(({ status, conclusion }) => `${status} ${conclusion}`);
}

function conclusionsNow() {
  return [...world.pages.checks.values()].map(({ conclusion }) => conclusion);
}

function textOn(number: PrNumber): string {
  const [text, ...more] = world.pages.textsOn(number);
  assert.deepEqual(more, []);
  return text ?? '';
}

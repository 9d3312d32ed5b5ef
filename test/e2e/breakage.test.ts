// A branch that breaks after a dozen landings, and its repair: a real repository, real checks, the real command line.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { aCheckedQueue } from './checks.ts';
import { makeFolder, until } from './harness.ts';
import { sluice } from './kept-sluice.ts';
import { type TestQueue, useServer } from './test-queue.ts';

interface Reverted {
  readonly prNumber: number;
  readonly text: string;
}

describe('a branch that breaks after a dozen landings', { timeout: 300_000 }, () => {
  const world = useServer();
  const run = (...args: readonly string[]) => sluice(args, { env: world.server.env });

  /** Land these one after the other. */
  async function land(queue: TestQueue, changes: readonly Readonly<Record<string, string>>[]): Promise<void> {
    for (const files of changes) {
      const number = await queue.submitOne(files);
      await queue.untilEntry(number, ({ state }) => state === 'MERGED');
    }
  }

  async function readHeld(queue: TestQueue, state: string) {
    return until(`the search is ${state}`, 120_000, async () => {
      const { held } = await queue.getQueue();
      return held?.breakage?.state === state ? held.breakage : undefined;
    });
  }

  it('finds the landing by former heads, and takes it back by a repair that lands as tested [V86] [V88] [L62] [L63] [W86]', async () => {
    const outside = join(await makeFolder(), 'outside');
    const command = `if [ -e '${outside}' ]; then ! test -e wrong.txt; fi`;
    const queue = await aCheckedQueue(world, [{ name: 'test', command }], { settings: { mergeMethod: 'REBASE' } });
    await land(queue, [...files('early', 4), { 'wrong.txt': 'wrong\n', 'other.txt': 'other\n' }, ...files('late', 7)]);
    const later = await queue.openPullRequest({ 'last.txt': 'x\n' });
    await writeFile(outside, '');
    for (const number of [later, await queue.openPullRequest()]) await queue.submit(number);

    const found = await readHeld(queue, 'FOUND');
    assert.equal(found.prNumber, 5);
    assert.ok(found.runs <= 7);
    assert.match(found.text, /The likely cause is #5, .* Take it back: sluice revert 5$/);
    const said = await run('breakage', queue.name, 'main');
    assert.deepEqual([said.code, said.out], [0, `${found.text}\n`]);
    const { events } = await queue.api.ok<{ events: readonly { prNumber: number }[] }>('listEvents', {
      ...queue.ref,
      types: ['queue.breakage_found'],
    });
    assert.deepEqual(
      events.map(({ prNumber }) => prNumber),
      [5],
    );

    const reverted = await run('revert', queue.name, 'main', '5', '--wait');
    assert.equal(reverted.code, 0, reverted.err);
    const revert = await queue.get(15);
    assert.deepEqual([revert.state, revert.prTitle], ['MERGED', 'Revert "Change 5" (#5)']);
    assert.equal(revert.landed?.kind, 'IDENTICAL');
    const left = await queue.git.git(['ls-tree', '--name-only', 'main']);
    assert.ok(!left.includes('wrong.txt') && !left.includes('other.txt') && left.includes('late-6.txt'));
    await queue.untilEntry(later, ({ state }) => state === 'MERGED');
    assert.equal((await queue.getQueue()).held, undefined);
    const again = await queue.api.refused('409 NOTHING_TO_REVERT', 'revertPullRequest', queue.entry(5));
    assert.match(again.detail, /main has nothing any more of what #5 brought/);
    await queue.api.refused('409 QUEUE_NOT_HELD', 'findBreakage', queue.ref);
  });

  it('names a commit that was pushed past the queue, and takes it back [V88] [L62] [L65]', async () => {
    const queue = await aCheckedQueue(world, [{ name: 'test', command: '! test -e wrong.txt' }]);
    await land(queue, files('early', 3));
    const pushed = await queue.git.commit('main', { files: { 'wrong.txt': 'x\n' }, message: 'Past the queue' });
    await queue.git.commit('main', { files: { 'after.txt': 'x\n' }, message: 'After it' });
    for (let index = 0; index < 2; index += 1) await queue.submitOne();
    const found = await readHeld(queue, 'FOUND');
    assert.deepEqual([found.commit, found.prNumber, found.runs], [pushed, undefined, 2]);
    const asked = { ...queue.ref, commit: pushed };
    const made = await queue.api.ok<Reverted>('revertPullRequest', { ...asked, submit: false });
    assert.match(made.text, /^#6 takes back [0-9a-f]{12}\. Submit it: /);
    const revert = await queue.api.ok<Reverted>('revertPullRequest', asked);
    assert.equal(revert.prNumber, made.prNumber);
    await queue.untilEntry(revert.prNumber, ({ state }) => state === 'MERGED');
    assert.match(await queue.git.git(['log', '--format=%B', 'main']), /Revert "Past the queue"/);
  });

  it('does not blame a landing for what also fails on older commits [V88]', async () => {
    const outside = join(await makeFolder(), 'outside');
    const queue = await aCheckedQueue(world, [{ name: 'test', command: `! test -e '${outside}'` }]);
    await land(queue, files('early', 3));
    await writeFile(outside, '');
    for (let index = 0; index < 2; index += 1) await queue.submitOne();
    const found = await readHeld(queue, 'OUTSIDE');
    assert.deepEqual([found.commits, found.runs, found.commit], [3, 1, undefined]);
    assert.match(found.text, /^No commit of these is the cause: main as it was 3 commits ago fails, too\. Look at CI/);
  });

  it('refuses a revert that conflicts, with the files, and one of what never landed [L64]', async () => {
    const queue = await aCheckedQueue(world, [{ name: 'test', command: 'true' }]);
    await land(queue, [{ 'a.txt': 'one\n' }, { 'a.txt': 'two\n' }]);
    const open = await queue.openPullRequest();
    const problem = await queue.api.refused('409 REVERT_CONFLICTS', 'revertPullRequest', queue.entry(1));
    assert.match(
      problem.detail,
      /Later commits changed what #1 brought, in a\.txt\. Nothing was made\. By hand: git revert /,
    );
    await queue.api.refused('404 PULL_REQUEST_NOT_FOUND', 'revertPullRequest', queue.entry(open));
    const foreign = { ...queue.ref, commit: await queue.headOf(open) };
    await queue.api.refused('409 NOTHING_TO_REVERT', 'revertPullRequest', foreign);
    const submits = await queue.api.withScopes('submit');
    await submits.refused('403 INSUFFICIENT_SCOPE', 'revertPullRequest', queue.entry(2));
    const refs = await queue.git.git(['for-each-ref', '--format=%(refname)', 'refs/pull']);
    assert.equal(refs.split('\n').length, 3);
  });
});

function files(name: string, count: number): readonly Readonly<Record<string, string>>[] {
  return Array.from({ length: count }, (_, index) => ({ [`${name}-${index}.txt`]: 'x\n' }));
}

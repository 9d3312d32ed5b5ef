import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { EntryView, LandedView } from '../../src/app/queue/entry-view.ts';
import { createPlainWorld, type PlainWorld } from '../contract/plain-repository.ts';
import { madeOnce } from '../helpers/made.ts';
import { checkHistory } from './check-history.ts';
import type { Line, PlannedChange } from './plan.ts';
import { Violations } from './verdict.ts';

const LINE: Line = { branch: 'main', mergeMethod: 'SQUASH', settings: { mode: 'SINGLE' } };

/** A target branch with #1 and #2 landed one by one, and their records. */
class Past {
  readonly world: PlainWorld;
  readonly start: string;
  readonly changes: PlannedChange[] = [];
  readonly entries = new Map<number, EntryView>();
  readonly passedTrees = new Set<string>();

  constructor(world: PlainWorld, start: string) {
    this.world = world;
    this.start = start;
  }

  async land(number: number, { isTested = true, author = `Author ${number}` } = {}): Promise<void> {
    const { world } = this;
    const base = await world.git(['rev-parse', 'main']);
    const change = { files: { [`${number}.txt`]: 'x\n' }, author, email: `${number}@example.test` };
    const prSha = await world.commitTo(`refs/pull/${number}/head`, base, change);
    const message = `Change (#${number})\n\nSluice-Pull-Request: ${number}\n`;
    const sha = await world.commit('main', { ...change, message });
    const tree = await world.git(['rev-parse', `${sha}^{tree}`]);
    if (isTested) this.passedTrees.add(tree);
    const at = `2026-01-01T00:00:0${number}.000Z`;
    const trees = { tree, pushedTree: tree, testedTree: tree } as Partial<LandedView>;
    const landed = { kind: 'IDENTICAL', ...trees, sha, pushedSha: sha, testedSha: sha, base, at } as LandedView;
    this.entries.set(number, { prNumber: number, prSha: `${prSha}`, state: 'MERGED', landed } as EntryView);
    const planned = { number, line: LINE, author: { name: `Author ${number}`, email: change.email } };
    this.changes.push(planned as PlannedChange);
  }

  async check(): Promise<string> {
    const { world, start, changes, entries, passedTrees } = this;
    const violations = new Violations();
    await checkHistory(violations, { git: world.git, line: LINE, start, changes, entries, passedTrees });
    return violations.found.join('\n');
  }
}

describe('the check of a history', () => {
  const world = madeOnce(() => createPlainWorld());
  let start: string;
  before(async () => {
    start = await world.commit('main', { files: { 'a.txt': 'a\n' }, message: 'Begin' });
  });

  async function aPast(): Promise<Past> {
    await world.git(['update-ref', 'refs/heads/main', start]);
    const past = new Past(world, start);
    await past.land(1);
    return past;
  }

  it('is content with commits that were tested and landed once', async () => {
    const past = await aPast();
    await past.land(2);
    assert.equal(await past.check(), '');
  });

  it('finds a commit of no pull request', async () => {
    const past = await aPast();
    await world.commit('main', { files: { 'b.txt': 'b\n' } });
    await past.land(2);
    assert.match(await past.check(), /nobody knows whose commit/);
  });

  it('finds a pull request that landed twice', async () => {
    const past = await aPast();
    await past.land(1);
    assert.match(await past.check(), /twice: 1/);
  });

  it('finds a landing that is not recorded, and a recorded one that is not on the branch', async () => {
    const past = await aPast();
    await past.land(2);
    past.entries.delete(1);
    assert.match(await past.check(), /not MERGED: 1/);
    const other = await aPast();
    await other.land(2);
    await world.git(['update-ref', 'refs/heads/main', 'main~1']);
    assert.match(await other.check(), /#2 is MERGED, but/);
  });

  it('finds a commit that was not tested, and one that is not by its author', async () => {
    const past = await aPast();
    await past.land(2, { isTested: false, author: 'Mallory' });
    assert.match(await past.check(), /no check passed on the tested tree.*is by Mallory/s);
  });
});

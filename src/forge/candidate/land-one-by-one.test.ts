import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { FakeForge } from '../../../test/fake/fake-forge.ts';
import type { MergeHooks } from '../../../test/fake/fake-merge-api.ts';
import { createMergeApi } from '../../../test/fake/fake-merge-api.ts';
import { FakeRepository } from '../../../test/fake/fake-repository.ts';
import { madeForEach } from '../../../test/helpers/made.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import type { BuildAnswer, CandidateEntry, LandAnswer, LandRequest } from '../forge.ts';
import { landOneByOne, type MergeAnswer, type MergeApi } from './land-one-by-one.ts';

type Landed = Extract<LandAnswer, { kind: 'landed' }>;

const WHERE = { id: 'app', host: 'forge.test', owner: 'acme', name: 'app', git: undefined, checks: [] };
const METHODS = ['MERGE_COMMIT', 'SQUASH', 'REBASE'] as const;
const NO_ANSWER: MergeAnswer = { kind: 'unclear', reason: 'GITHUB_API_REPEATED_SERVER_ERRORS', detail: 'Bad gateway' };
const REFUSED: MergeAnswer = { kind: 'refused', reason: 'GITHUB_API_BRANCH_PROTECTION_UNMET', detail: 'No review.' };

describe('landing by a merge API', () => {
  const repository = madeForEach(() => new FakeRepository());
  let hooks: MergeHooks;
  let waits: number[];
  let merges: number[];
  let base: Sha;

  beforeEach(() => {
    base = repository.commit('main', { files: { base: 'base' } });
    hooks = {};
    waits = [];
    merges = [];
  });

  function open(name: string): CandidateEntry {
    const { number, headSha } = repository.openPullRequest({ base: 'main', files: { [name]: name }, message: name });
    return { prNumber: number, headSha, title: name, author: 'Ada' };
  }

  async function ask(entries: readonly CandidateEntry[], more: Partial<LandRequest> = {}): Promise<LandRequest> {
    const mergeMethod = more.mergeMethod ?? 'SQUASH';
    const where = { repository: WHERE, targetBranch: 'main', candidateId: 'c1', base, plannedAt: 0, mergeMethod };
    const built = await new FakeForge(repository).buildCandidate({
      ...where,
      parent: undefined,
      beneath: [],
      members: entries,
    });
    const { sha, tree } = built as Extract<BuildAnswer, { kind: 'built' }>;
    const how = { isCalledOff: false, composedWith: [], landingMode: 'API' } as const;
    return { ...where, ...how, expectedHead: base, sha, tree, entries, ...more };
  }

  function land(request: LandRequest, more: Partial<MergeApi> = {}): Promise<LandAnswer> {
    const api = createMergeApi(repository, request, hooks);
    return landOneByOne(
      {
        ...api,
        wait: async (ms) => void waits.push(ms),
        merge: async (entry) => {
          merges.push(entry.prNumber);
          return api.merge(entry);
        },
        ...more,
      },
      request,
    );
  }

  const head = () => repository.getHead('main');
  const kinds = ({ how, entries }: Landed) => entries.map(({ kind = how }) => kind);
  const foreign = () => {
    repository.commit('main', { files: { foreign: 'foreign' } });
    return undefined;
  };

  /** Runs `act` once, before the first merge of this entry. */
  function once(entry: CandidateEntry, act: () => MergeAnswer | undefined): NonNullable<MergeHooks['before']> {
    let isDone = false;
    return (_request, { prNumber }) => {
      if (isDone || prNumber !== entry.prNumber) return undefined;
      isDone = true;
      return act();
    };
  }

  for (const mergeMethod of METHODS) {
    it(`a landing merges each in order, and the last has the tested tree, by ${mergeMethod} [G148] [L21]`, async () => {
      const request = await ask([open('a'), open('b'), open('c')], { mergeMethod });
      const answer = (await land(request)) as Landed;
      assert.deepEqual(kinds(answer), ['PREFIX', 'PREFIX', 'SAME_TREE']);
      assert.deepEqual([answer.pushedSha, answer.pushedTree], [head(), request.tree]);
      assert.deepEqual(merges, [1, 2, 3]);
      assert.equal(answer.stopped, undefined);
      // A second request finds the landing and merges nothing.
      assert.deepEqual(await land(request), answer);
      foreign();
      assert.deepEqual(await land({ ...request, isCalledOff: true }), answer);
      assert.deepEqual(merges, [1, 2, 3]);
    });

    it(`a landing knows a merge whose answer got lost, by ${mergeMethod} [G22]`, async () => {
      const [a, b] = [open('a'), open('b')];
      const request = await ask([a, b], { mergeMethod });
      hooks = { after: once(b, () => NO_ANSWER) };
      assert.deepEqual(kinds((await land(request)) as Landed), ['PREFIX', 'SAME_TREE']);
      assert.deepEqual(merges, [1, 2]);
    });

    it(`a landing goes on where an earlier attempt broke off, by ${mergeMethod} [G149]`, async () => {
      const [a, b, c] = [open('a'), open('b'), open('c')];
      const request = await ask([a, b, c], { mergeMethod });
      const crash = () => {
        throw new Fault('FORGE_UNAVAILABLE', 'gone');
      };
      hooks = { after: once(b, crash) };
      await assert.rejects(land(request));
      assert.deepEqual(kinds((await land(request)) as Landed), ['PREFIX', 'PREFIX', 'SAME_TREE']);
      assert.deepEqual(merges, [1, 2, 3]);
    });

    it(`a landing sees that it was merged onto the push of somebody else, by ${mergeMethod} [G21]`, async () => {
      const [a, b, c] = [open('a'), open('b'), open('c')];
      const request = await ask([a, b, c], { mergeMethod });
      hooks = { before: once(b, foreign) };
      const answer = (await land(request)) as Landed;
      const { sha, tree } = repository.git.getCommit(head());
      assert.deepEqual(kinds(answer), ['PREFIX']);
      const stray = { kind: 'strayed', prNumber: b.prNumber, sha, tree, head: head(), isDescendant: true };
      assert.deepEqual(answer.stopped, stray);
      assert.deepEqual(await land(request), answer);
      assert.deepEqual(merges, [1, 2]);
    });
  }

  it('a landing sees that the very first was merged onto something else [G21]', async () => {
    const a = open('a');
    const request = await ask([a, open('b')]);
    hooks = { before: once(a, foreign) };
    const answer = (await land(request)) as Landed;
    assert.deepEqual([answer.entries, answer.pushedSha, answer.stopped?.kind], [[], base, 'strayed']);
  });

  it('a landing stops where somebody else pushed on top of its merges [G21]', async () => {
    const [a, b] = [open('a'), open('b')];
    const request = await ask([a, b]);
    hooks = { after: once(a, foreign) };
    const answer = (await land(request)) as Landed;
    assert.deepEqual(kinds(answer), ['PREFIX']);
    assert.deepEqual(answer.stopped, { kind: 'target_moved', head: head(), isDescendant: true });
    assert.deepEqual(merges, [1]);
  });

  it('a landing merges nothing on another head than the one expected [G21] [L1]', async () => {
    const request = await ask([open('a')]);
    foreign();
    assert.deepEqual(await land(request), { kind: 'target_moved', head: head(), isDescendant: true });
    repository.moveBranch('main', undefined);
    assert.deepEqual(await land(request), { kind: 'target_moved', head: undefined, isDescendant: false });
    assert.deepEqual(merges, []);
  });

  it('a landing notices a target that was rewritten under a merge [G21]', async () => {
    const a = open('a');
    const request = await ask([a, open('b')]);
    const rewrite = () => {
      repository.moveBranch('main', base);
      return foreign();
    };
    hooks = { after: once(a, rewrite) };
    assert.deepEqual(await land(request), { kind: 'target_moved', head: head(), isDescendant: true });
  });

  it('a landing takes back nothing, and merges no more, once somebody asked to remove an entry [L24]', async () => {
    const request = await ask([open('a'), open('b')]);
    const isStillWanted = async () => merges.length === 0;
    const answer = (await land({ ...request, isStillWanted })) as Landed;
    assert.deepEqual([kinds(answer), answer.stopped, merges], [['PREFIX'], undefined, [1]]);
    assert.deepEqual(await land({ ...request, isCalledOff: true }), answer);
    const other = await ask([open('c')], { expectedHead: head() });
    assert.deepEqual(await land({ ...other, isCalledOff: true }), { kind: 'called_off' });
  });

  const refusals: readonly (readonly [string, MergeAnswer, number])[] = [
    ['at once where it says no', REFUSED, 1],
    ['after ten tries in a minute where it keeps failing', NO_ANSWER, 10],
    ['after fewer where that is enough', { ...NO_ANSWER, tries: 3 }, 3],
  ];
  for (const [name, answer, tries] of refusals) {
    it(`a landing gives an entry up ${name} [G23]`, async () => {
      const [a, b, c] = [open('a'), open('b'), open('c')];
      const request = await ask([a, b, c]);
      hooks = { before: (_request, { prNumber }) => (prNumber === b.prNumber ? answer : undefined) };
      const landed = (await land(request)) as Landed;
      const { reason, detail } = answer as Extract<MergeAnswer, { kind: 'refused' }>;
      assert.deepEqual(landed.stopped, { kind: 'refused', prNumber: b.prNumber, reason, detail });
      assert.equal(merges.filter((number) => number === b.prNumber).length, tries);
      const total = waits.reduce((sum, ms) => sum + ms, 0);
      if (tries === 10) assert.ok(total > 40_000 && total < 80_000, `${total}`);
    });
  }

  it('a landing says so plainly where the first one is refused [G150]', async () => {
    const request = await ask([open('a'), open('b')]);
    hooks = { before: () => REFUSED };
    const { kind: _, ...no } = REFUSED;
    assert.deepEqual(await land(request), { kind: 'refused', prNumber: 1, ...no });
    assert.equal(head(), base);
  });

  it('a merged entry is never called failed, even if the answer says so [G22]', async () => {
    for (const told of [REFUSED, NO_ANSWER, { kind: 'head_moved', detail: 'Head branch was modified.' } as const]) {
      base = head();
      const entry = open(told.kind);
      const request = await ask([entry]);
      hooks = { after: () => told };
      assert.equal((await land(request)).kind, 'landed', told.kind);
    }
  });

  it('a landing waits for a limit, for about an hour at most [G23]', async () => {
    const a = open('a');
    const request = await ask([a]);
    hooks = { before: once(a, () => ({ kind: 'limited', waitMs: 20 * 60_000, detail: 'Limit' })) };
    assert.equal((await land(request)).kind, 'landed');
    assert.deepEqual(waits, [20 * 60_000]);
    base = head();
    hooks = { before: () => ({ kind: 'limited', waitMs: 20 * 60_000, detail: 'Limit' }) };
    const refused = (await land(await ask([open('b')]))) as Extract<LandAnswer, { kind: 'refused' }>;
    assert.deepEqual([refused.reason, refused.detail], ['GITHUB_API_RATE_LIMIT_EXCEEDED', 'Limit']);
  });

  it('a landing tells a pull request that was pushed to from one that was only said to be [L6]', async () => {
    const [a, b] = [open('a'), open('b')];
    const request = await ask([a, b]);
    hooks = { before: once(a, () => ({ kind: 'head_moved', detail: 'Head branch was modified.' })) };
    repository.push(b.prNumber, { files: { b: 'again' } });
    const answer = (await land(request)) as Landed;
    assert.deepEqual(answer.stopped, { kind: 'pull_request_moved', prNumber: b.prNumber });
    assert.deepEqual(merges, [1, 1, 2]);
  });

  it('a landing waits until the forge shows its merge [G149]', async () => {
    const request = await ask([open('a')]);
    let reads = 0;
    const late = createMergeApi(repository, request, {});
    const readTarget = async () => (reads++ < 4 ? base : late.readTarget());
    assert.equal((await land(request, { readTarget })).kind, 'landed');
    // The answer was lost, and the pull request is not shown as merged yet.
    base = head();
    const b = open('b');
    hooks = { after: () => NO_ANSWER };
    let asked = 0;
    const findState: MergeApi['findState'] = async (number) =>
      asked++ < 2 ? { kind: 'open', headSha: b.headSha } : late.findState(number);
    assert.equal((await land(await ask([b]), { findState })).kind, 'landed');
  });

  it('a landing does not guess where the target never shows the merge [G149]', async () => {
    const request = await ask([open('a')]);
    const readTarget = async () => base;
    await assert.rejects(land(request, { readTarget }), /did not move yet/);
    assert.equal((await land(request)).kind, 'landed');
  });

  it('a landing gives up an entry that was merged and taken off the target again [G149]', async () => {
    const request = await ask([open('a')]);
    const { pushedSha } = (await land(request)) as Landed;
    repository.moveBranch('main', base);
    const refused = (await land(request)) as Extract<LandAnswer, { kind: 'refused' }>;
    assert.deepEqual([refused.kind, refused.reason], ['refused', 'GITHUB_API_MERGE_PR_FAILED']);
    assert.ok(refused.detail.includes(pushedSha), refused.detail);
  });

  it('a merge by a person counts as a push past the queue [G21]', async () => {
    for (const method of ['SQUASH', 'MERGE_COMMIT'] as const) {
      base = head();
      const a = open(method);
      const request = await ask([a, open('b')], { mergeMethod: method });
      repository.mergeByHand(a.prNumber, method);
      assert.deepEqual(await land(request), { kind: 'target_moved', head: head(), isDescendant: true });
    }
  });
});

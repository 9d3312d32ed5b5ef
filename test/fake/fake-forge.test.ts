import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { PrNumber } from '../../src/engine/model/pull-request.ts';
import type { BuildAnswer, BuildRequest, CandidateEntry, LandAnswer, LandRequest } from '../../src/forge/forge.ts';
import { Fault } from '../../src/lib/fault.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { type Change, type ForgeWorld, forgeContract } from '../contract/forge.ts';
import { auditContract } from '../contract/forge-audit.ts';
import { madeForEach } from '../helpers/made.ts';
import { FakeForge } from './fake-forge.ts';
import { type FakeChange, FakeRepository } from './fake-repository.ts';

const WHERE = { id: 'app', host: 'forge.test', owner: 'acme', name: 'app', git: undefined, checks: [] };
const METHODS = ['MERGE_COMMIT', 'SQUASH', 'REBASE'] as const;
const PLANNED_AT = Date.UTC(2025, 0, 2);

async function createWorld(): Promise<ForgeWorld> {
  const repository = new FakeRepository();
  const forge = new FakeForge(repository);
  const change = (given: Change) => ({
    files: given.files ?? {},
    ...(given.message === undefined ? {} : { message: String(given.message) }),
    ...(given.author === undefined ? {} : { author: given.author }),
  });
  return {
    forge,
    repository: WHERE,
    commit: async (branch, given) => repository.commit(branch, change(given)),
    createBranch: async (branch, sha) => repository.moveBranch(branch, sha),
    deleteBranch: async (branch) => repository.moveBranch(branch, undefined),
    openPullRequest: async (base, given) => repository.openPullRequest({ base, ...change(given) }),
    pushToPullRequest: async (number, given) => repository.push(number, change(given)),
    closePullRequest: async (number) => repository.close(number),
    landPullRequest: async (number, branch) => repository.moveBranch(branch, repository.getPullRequestHead(number)),
    breakRepository: async () => {
      forge.isBroken = true;
      return async () => {
        forge.isBroken = false;
      };
    },
    close: async () => undefined,
  };
}

for (const contract of [forgeContract, auditContract]) contract('fake', createWorld);

type Built = Extract<BuildAnswer, { kind: 'built' }> & BuildRequest;
type Landed = Extract<LandAnswer, { kind: 'landed' }>;

const repository = madeForEach(() => new FakeRepository());
let forge: FakeForge;
let base: Sha;
let count = 0;

beforeEach(() => {
  forge = new FakeForge(repository);
  base = repository.commit('main', { files: { shared: '0\n1\n2\n3', other: '0\n1' } });
});

function open(title: string, ...changes: readonly FakeChange['files'][]): CandidateEntry {
  const [first = {}, ...others] = changes;
  const { number } = repository.openPullRequest({ base: 'main', files: first, message: title });
  for (const files of others) repository.push(number, { files });
  return { prNumber: number, headSha: repository.getPullRequestHead(number), title, author: 'Ada' };
}

function request(members: readonly CandidateEntry[], more: Partial<BuildRequest> = {}): BuildRequest {
  count += 1;
  const candidateId = `c${count}`;
  const where = { repository: WHERE, targetBranch: 'main', candidateId, base, parent: undefined };
  return { ...where, beneath: [], members, mergeMethod: 'SQUASH', plannedAt: PLANNED_AT, ...more };
}

async function build(members: readonly CandidateEntry[], more: Partial<BuildRequest> = {}): Promise<Built> {
  const asked = request(members, more);
  const answer = await forge.buildCandidate(asked);
  assert.equal(answer.kind, 'built');
  return { ...asked, ...(answer as Extract<BuildAnswer, { kind: 'built' }>) };
}

async function land(built: Built, more: Partial<LandRequest> = {}): Promise<LandAnswer> {
  const { sha, tree, members: entries, candidateId, mergeMethod, plannedAt } = built;
  const where = { repository: WHERE, targetBranch: 'main', candidateId, expectedHead: built.base, base: built.base };
  const how = { isCalledOff: false, composedWith: [], mergeMethod, landingMode: 'PUSH' } as const;
  return forge.landCandidate({ ...where, ...how, sha, tree, entries, plannedAt, ...more });
}

async function mustLand(built: Built, more: Partial<LandRequest> = {}): Promise<Landed> {
  const answer = await land(built, more);
  assert.equal(answer.kind, 'landed', JSON.stringify(answer));
  assert.equal(repository.findHead('main'), (answer as Landed).pushedSha);
  return answer as Landed;
}

const isUnavailable = (error: unknown) => error instanceof Fault && error.code === 'FORGE_UNAVAILABLE';

describe('fake forge: candidates', () => {
  for (const mergeMethod of METHODS) {
    it(`${mergeMethod}: on a parent it is the same tree as without, also when the parent is lost`, async () => {
      const [a, b] = [open('A', { shared: 'a\n1\n2\n3' }), open('B', { shared: '0\n1\n2\nb' })];
      const parent = await build([a], { mergeMethod });
      const onParent = await build([b], { mergeMethod, parent: parent.sha, beneath: [a] });
      const anew = await build([b], { mergeMethod, beneath: [a] });
      assert.equal(onParent.tree, anew.tree);
      assert.equal(repository.git.isAncestor(parent.sha, onParent.sha), true);
      assert.equal(repository.git.getTree(anew.tree).files.get('shared'), 'a\n1\n2\nb');
      const lost = 'b'.repeat(40) as Sha;
      assert.equal((await build([b], { mergeMethod, parent: lost, beneath: [a] })).tree, anew.tree);
    });

    it(`${mergeMethod}: the culprit is the entry at which the conflict begins`, async () => {
      const free = open('Free', { other: 'x\n1' });
      const top = open('Top', { shared: 'top\n1\n2\n3' });
      const end = open('End', { shared: '0\n1\n2\nend' });
      const both = open('Both', { shared: 'x\n1\n2\ny' });
      const conflict = async (members: readonly CandidateEntry[], more: Partial<BuildRequest> = {}) => {
        const answer = await forge.buildCandidate(request(members, { mergeMethod, ...more }));
        return answer.kind === 'conflict' ? [answer.prNumber, answer.culprit] : answer.kind;
      };
      const number = both.prNumber;
      assert.deepEqual(await conflict([free, top, end, both]), [number, top.prNumber]);
      assert.deepEqual(await conflict([both], { beneath: [free, end, top] }), [number, end.prNumber]);
      assert.deepEqual(await conflict([free], { beneath: [top, both] }), [free.prNumber, number]);
      base = repository.commit('main', { files: { shared: 'theirs\n1\n2\n3' } });
      assert.deepEqual(await conflict([free, both]), [number, undefined]);
    });
  }

  it('a missing repository is a fault', async () => {
    const entry = open('A', { a: 'a' });
    repository.push(entry.prNumber, { files: { a: 'b' } }, { isForced: true });
    assert.equal((await forge.buildCandidate(request([entry]))).kind, 'built');
    await forge.discardCandidate({ ...request([]), candidateId: `c${count}`, prNumber: undefined, isBisection: false });
    repository.git.collectGarbage();
    await assert.rejects(forge.buildCandidate(request([entry])), isUnavailable);
    const sha = entry.headSha;
    await assert.rejects(forge.isAncestor({ repository: WHERE, ancestor: base, descendant: sha }), isUnavailable);
    assert.equal(await forge.isAncestor({ repository: WHERE, ancestor: sha, descendant: base }), false);
  });

  it('required checks come from the base, and from protection', async () => {
    const loosening = open('Loosen', { '.sluice.yaml': 'merge: {required_statuses: [none]}' });
    assert.deepEqual((await build([loosening])).sources, {
      file: undefined,
      fileProblem: undefined,
      protection: undefined,
      commands: '',
    });
    base = repository.commit('main', { files: { '.sluice.yaml': 'merge: {required_statuses: [unit]}' } });
    forge.protection = ['lint'];
    const { file, protection } = (await build([])).sources;
    assert.deepEqual([file, protection], [['unit'], ['lint']]);
  });
});

describe('fake forge: landing', () => {
  for (const mergeMethod of METHODS) {
    it(`${mergeMethod}: the fake forge lands the tested tree anew, and together with disjoint changes`, async () => {
      const [a, b, c] = [open('A', { a: 'a' }), open('B', { b: 'b' }), open('C', { c: 'c' })];
      const first = await build([a], { mergeMethod });
      const second = await build([b], { mergeMethod, beneath: [a] });
      const beside = await build([c], { mergeMethod });
      await mustLand(first);
      const again = await mustLand(second, { expectedHead: first.sha });
      assert.deepEqual([again.how, again.pushedTree], ['SAME_TREE', second.tree]);
      const more = { expectedHead: again.pushedSha };
      assert.equal((await land(beside, more)).kind, 'not_composable');
      const composed = await mustLand(beside, { ...more, composedWith: [a.prNumber, b.prNumber] });
      assert.equal(composed.how, 'COMPOSED');
      assert.equal(composed.pushedTree, (await build([a, b, c], { mergeMethod })).tree);
    });
  }
});

describe('fake forge: pull requests', () => {
  const facts = (number: PrNumber) => forge.findPullRequest({ repository: WHERE, number, targetBranch: 'main' });

  it('say when they contain the target and what passed on them', async () => {
    forge = new FakeForge(repository, { passedChecks: () => ['unit'] });
    const { number, headSha } = repository.openPullRequest({ base: 'main', files: { a: 'a' } });
    const { tree } = repository.git.getCommit(headSha);
    assert.deepEqual((await facts(number))?.upToDate, { targetHead: base, tree, passedChecks: ['unit'] });
    const head = repository.commit('main', { files: { b: 'b' } });
    assert.equal((await facts(number))?.upToDate, undefined);
    repository.updatePullRequest(number);
    assert.equal((await facts(number))?.upToDate?.targetHead, head);
  });
});

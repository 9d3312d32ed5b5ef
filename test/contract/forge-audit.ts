import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, test } from 'node:test';
import type { PrNumber } from '../../src/engine/model/pull-request.ts';
import type { BuildRequest } from '../../src/forge/forge.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { madeOnce } from '../helpers/made.ts';
import { pluck } from '../helpers/pluck.ts';
import { type ForgeWorld, isUnavailable } from './forge.ts';

const LIMIT = 100;
const LONG = 'x'.repeat(5_000);

/** The promises behind the audit and the removal of old refs. */
export function auditContract(name: string, createWorld: () => Promise<ForgeWorld>): void {
  describe(`audit contract: ${name}`, () => {
    const world = madeOnce(() => createWorld());
    let first: Sha;
    before(async () => {
      first = await world.commit('main', { files: { 'a.txt': 'a\n' }, message: 'First', author: 'Grace' });
    });

    const listLine = (head: Sha, since: Sha, limit = LIMIT) =>
      world.forge.listLine({ repository: world.repository, head, since, limit });

    /** Builds a merge commit on the present head of main, under its own ref. */
    async function build(): Promise<BuildRequest & { readonly sha: Sha; readonly tree: Sha; readonly headSha: Sha }> {
      const { number, headSha } = await world.openPullRequest('main', { files: { [`${randomUUID()}.txt`]: 'new\n' } });
      const base = await world.forge.findBranchHead(world.repository, 'main');
      assert.ok(base);
      const request: BuildRequest = {
        repository: world.repository,
        targetBranch: 'main',
        candidateId: randomUUID(),
        base,
        parent: undefined,
        beneath: [],
        members: [{ prNumber: number, headSha, title: 'A change', author: 'Ada' }],
        mergeMethod: 'MERGE_COMMIT',
        plannedAt: Date.UTC(2025, 0, 2),
      };
      const answer = await world.forge.buildCandidate(request);
      assert.ok(answer.kind === 'built');
      return { ...request, sha: answer.sha, tree: answer.tree, headSha };
    }

    test('the way from one commit to another is told commit by commit, newest first [N4]', async () => {
      const second = await world.commit('main', {
        files: { 'b.txt': 'b\n' },
        message: `Second\n\n${LONG}`,
        author: 'Eve',
      });
      const third = await world.commit('main', { files: { 'c.txt': 'c\n' }, message: '', author: 'Linus' });
      const line = await listLine(third, first);
      assert.ok(line.kind === 'line');
      assert.deepEqual(
        line.commits.map(({ sha, author, subject }) => ({ sha, author, subject })),
        [
          { sha: third, author: 'Linus', subject: '' },
          { sha: second, author: 'Eve', subject: 'Second' },
        ],
      );
      const { tree, sha, base } = await build();
      const built = await listLine(sha, base);
      assert.ok(built.kind === 'line');
      assert.deepEqual(pluck(built.commits, 'sha', 'tree'), [[sha, tree]]);
    });

    test('a landing is recognized by its message and its content, not by its message alone [L35]', async () => {
      const { sha, base, headSha, members } = await build();
      const prNumber = members[0]?.prNumber as PrNumber;
      const find = async (head: Sha, since: Sha, heads: ReadonlyMap<PrNumber, Sha>) => {
        const line = await world.forge.listLine({ repository: world.repository, head, since, limit: LIMIT, heads });
        return line.kind === 'line' && line.commits[0]?.prNumber;
      };
      assert.equal(await find(sha, base, new Map([[prNumber, headSha]])), prNumber);
      assert.equal(await find(sha, base, new Map()), undefined);
      const gone = 'd'.repeat(40) as Sha;
      assert.equal(await find(sha, base, new Map([[prNumber, gone]])), undefined);
      const message = `Picked\n\nSluice-Pull-Request: ${prNumber}\n`;
      const before = await world.commit('main', { files: { 'before.txt': 'x\n' } });
      const picked = await world.commit('main', { files: { 'picked.txt': 'x\n' }, message });
      assert.equal(await find(picked, before, new Map([[prNumber, headSha]])), undefined);
    });

    test('no way is the way from a commit to itself, and back there is none [N4]', async () => {
      const next = await world.commit('main', { files: { 'd.txt': 'd\n' } });
      assert.deepEqual(await listLine(next, next), { kind: 'line', commits: [] });
      assert.deepEqual(await listLine(first, next), { kind: 'broken' });
    });

    test('a commit that was only merged is not on the line [N4]', async () => {
      const { sha, headSha } = await build();
      assert.deepEqual(await listLine(sha, headSha), { kind: 'merged' });
      assert.deepEqual(await listLine(headSha, sha), { kind: 'broken' });
    });

    test('a way to another history is broken, and one to a commit that is not there is lost [N4]', async () => {
      const other = await world.commit('other', { files: { 'z.txt': 'z\n' } });
      const gone = 'd'.repeat(first.length) as Sha;
      assert.deepEqual(await listLine(first, other), { kind: 'broken' });
      assert.deepEqual(await listLine(other, first), { kind: 'broken' });
      for (const [head, since] of [
        [gone, first],
        [first, gone],
        [gone, gone],
      ] as const) {
        assert.deepEqual(await listLine(head, since), { kind: 'lost' });
      }
    });

    test('a way that is too long is not followed to its end [N11]', async () => {
      let head = await world.commit('long', { files: { 'a.txt': '0\n' } });
      const since = head;
      for (let count = 1; count <= 3; count += 1)
        head = await world.commit('long', { files: { 'a.txt': `${count}\n` } });
      assert.equal((await listLine(head, since, 3)).kind, 'line');
      assert.deepEqual(await listLine(head, since, 2), { kind: 'too_long' });
    });

    test('candidates are listed while they have refs, each once [N5]', async () => {
      const listIds = () => world.forge.listCandidateIds(world.repository);
      const [one, two] = [await build(), await build()];
      await world.createBranch('sluice/pr-1/notes', first);
      await world.createBranch('sluice/other', first);
      const parts = { prNumber: one.members[0]?.prNumber, isBisection: true };
      await world.forge.publishCandidate({ ...one, ...parts });
      const hasBoth = (ids: readonly string[]) => [one, two].every(({ candidateId }) => ids.includes(candidateId));
      const found = await until(listIds, hasBoth);
      assert.deepEqual(found, [...new Set(found)]);
      assert.ok(found.every((id) => /^[0-9a-f-]{36}$/.test(id)));
      // First only its branch is left, then nothing.
      const branch = world.forge.testBranchOf({ candidateId: one.candidateId, ...parts });
      await world.forge.discardCandidate({ ...one, ...parts });
      await world.createBranch(branch, first);
      assert.ok((await until(listIds, (ids) => ids.includes(one.candidateId))).includes(two.candidateId));
      await world.forge.discardCandidate({ ...one, ...parts });
      assert.ok((await until(listIds, (ids) => !ids.includes(one.candidateId))).includes(two.candidateId));
    });

    test('a repository that is away is a fault [N4] [N5]', async () => {
      const repair = await world.breakRepository();
      // The local copy already has these commits, so no remote is needed.
      await assert.rejects(listLine('e'.repeat(first.length) as Sha, first), isUnavailable);
      const list = () => world.forge.listCandidateIds(world.repository).catch((error: unknown) => error);
      isUnavailable(await until(list, (answer) => !Array.isArray(answer)));
      await repair();
      assert.equal((await listLine(first, first)).kind, 'line');
    });
  });
}

/** The list may be a second old. */
async function until<Answer>(ask: () => Promise<Answer>, isRight: (answer: Answer) => boolean): Promise<Answer> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const answer = await ask();
    if (isRight(answer)) return answer;
    assert.ok(Date.now() < deadline, 'the list does not change');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

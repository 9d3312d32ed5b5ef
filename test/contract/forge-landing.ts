import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';
import type { PrNumber } from '../../src/engine/model/pull-request.ts';
import type { BuildRequest, CandidateEntry, LandAnswer, LandRequest } from '../../src/forge/forge.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { madeOnce } from '../helpers/made.ts';
import { pluck } from '../helpers/pluck.ts';
import type { GitWorld } from './forge.ts';
import { CandidateBench, lines, METHODS, type Methods } from './forge-bench.ts';

type Landed = Extract<LandAnswer, { kind: 'landed' }>;
type Tested = BuildRequest & { readonly sha: Sha; readonly tree: Sha };

/** The promises about landing, with a git repository behind the forge. */
export function landingContract(name: string, createWorld: () => Promise<GitWorld>, methods: Methods = METHODS): void {
  describe(`forge contract, landing: ${name}`, () => {
    const bench = madeOnce(() => CandidateBench.create(createWorld));
    let a: CandidateEntry;
    let b: CandidateEntry;
    let c: CandidateEntry;
    after(() => bench.world.close());
    beforeEach(async () => {
      await bench.reset();
      a = await bench.open('A', { files: { 'a.txt': lines({ 2: 'a' }), 'only-a': 'a\n' } });
      b = await bench.open('B', { files: { 'a.txt': lines({ 30: 'b' }) } }, { files: { 'only-b': 'b\n' } });
      c = await bench.open('C', { files: { 'b.txt': lines({ 2: 'c' }), 'only-c': 'c\n' } });
    });

    const requestOf = (tested: Tested, more: Partial<LandRequest> = {}): LandRequest => ({
      repository: tested.repository,
      targetBranch: tested.targetBranch,
      candidateId: tested.candidateId,
      expectedHead: tested.base,
      base: tested.base,
      sha: tested.sha,
      tree: tested.tree,
      entries: tested.members,
      isCalledOff: false,
      composedWith: [],
      mergeMethod: tested.mergeMethod,
      landingMode: 'PUSH',
      plannedAt: tested.plannedAt,
      ...more,
    });
    const land = (tested: Tested, more: Partial<LandRequest> = {}) =>
      bench.world.forge.landCandidate(requestOf(tested, more));
    const mustLand = async (tested: Tested, more: Partial<LandRequest> = {}): Promise<Landed> => {
      const answer = await land(tested, more);
      assert.equal(answer.kind, 'landed', JSON.stringify(answer));
      assert.equal(await head(), (answer as Landed).pushedSha);
      return answer as Landed;
    };
    const head = async () => (await bench.git('rev-parse', 'refs/heads/main')) as Sha;
    const treeOf = (sha: string) => bench.git('rev-parse', `${sha}^{tree}`);

    test('a landing that was called off does not happen, and is found where it happened before', async () => {
      const tested = await bench.build([a]);
      assert.deepEqual(await land(tested, { isCalledOff: true }), { kind: 'called_off' });
      assert.equal(await head(), tested.base);
      const landed = await mustLand(tested);
      assert.deepEqual(await land(tested, { isCalledOff: true }), landed);
    });

    for (const mergeMethod of methods) {
      describe(mergeMethod, () => {
        test('the tested commit itself lands, with the commit of each entry', async () => {
          const tested = await bench.build([a, b, c], { mergeMethod });
          const landed = await mustLand(tested);
          assert.deepEqual([landed.how, landed.pushedSha, landed.pushedTree], ['IDENTICAL', tested.sha, tested.tree]);
          assert.deepEqual(
            pluck(landed.entries, 'prNumber'),
            [a, b, c].map(({ prNumber }) => prNumber),
          );
          for (const entry of landed.entries) {
            assert.equal(entry.tree, await treeOf(entry.sha));
            const files = await bench.git('ls-tree', '--name-only', entry.sha);
            const expected = landed.entries.indexOf(entry);
            assert.deepEqual(
              ['only-a', 'only-b', 'only-c'].map((file) => files.includes(file)),
              [true, expected > 0, expected > 1],
            );
          }
          assert.equal(landed.entries.at(-1)?.sha, tested.sha);
        });

        test('on its own dependencies as they were tested it lands as it is', async () => {
          const first = await bench.build([a], { mergeMethod });
          const second = await bench.build([b], { mergeMethod, parent: first.sha, beneath: [a] });
          await mustLand(first);
          const landed = await mustLand(second, { expectedHead: first.sha });
          assert.deepEqual([landed.how, landed.pushedSha], ['IDENTICAL', second.sha]);
          assert.deepEqual(landed.entries, [{ prNumber: b.prNumber, sha: second.sha, tree: second.tree }]);
        });

        test('entries that a pass vouched for land with it', async () => {
          const first = await bench.build([a], { mergeMethod });
          const second = await bench.build([b], { mergeMethod, parent: first.sha, beneath: [a] });
          const landed = await mustLand(second, { entries: [a, b] });
          assert.equal(landed.how, 'IDENTICAL');
          assert.deepEqual(pluck(landed.entries, 'sha'), [first.sha, second.sha]);
        });

        test('an entry that is in the commit and not to land keeps it from landing as it is', async () => {
          const both = await bench.build([b], { mergeMethod, beneath: [a] });
          assert.equal((await land(both)).kind, 'not_composable');
          assert.equal(await head(), bench.base);
        });

        test('on another commit with the same tree the commits are made again [L19]', async () => {
          const first = await bench.build([a], { mergeMethod });
          const second = await bench.build([b], { mergeMethod, beneath: [a] });
          await mustLand(first);
          const landed = await mustLand(second, { expectedHead: first.sha });
          assert.deepEqual([landed.how, landed.pushedTree], ['SAME_TREE', second.tree]);
          assert.notEqual(landed.pushedSha, second.sha);
          assert.equal(await bench.git('rev-parse', `${landed.pushedSha}^{tree}`), second.tree);
          assert.equal(await bench.git('merge-base', first.sha, landed.pushedSha), first.sha);
          assert.equal(
            await bench.show(landed.pushedSha, '%(trailers:key=Sluice-Candidate,valueonly)'),
            second.candidateId,
          );
        });

        test('with what landed beside it, the paths of both are put together', async () => {
          const [one, other] = [await bench.build([a], { mergeMethod }), await bench.build([c], { mergeMethod })];
          await mustLand(one);
          const more = { expectedHead: one.sha };
          assert.equal((await land(other, more)).kind, 'not_composable');
          const landed = await mustLand(other, { ...more, composedWith: [a.prNumber] });
          assert.equal(landed.how, 'COMPOSED');
          const both = await bench.build([a, c], { mergeMethod });
          assert.equal(landed.pushedTree, both.tree);
          assert.equal(await treeOf(landed.pushedSha), both.tree);
        });

        test('dependencies that landed do not count as the other side', async () => {
          const first = await bench.build([a], { mergeMethod });
          const second = await bench.build([b], { mergeMethod, parent: first.sha, beneath: [a] });
          const beside = await bench.build([c], { mergeMethod });
          await mustLand(first);
          const composed = await mustLand(beside, { expectedHead: first.sha, composedWith: [a.prNumber] });
          const more = { expectedHead: composed.pushedSha, composedWith: [c.prNumber] };
          assert.equal((await mustLand(second, more)).how, 'COMPOSED');
        });

        test('asked again after it landed, it says so again', async () => {
          const one = await bench.build([a], { mergeMethod });
          const beside = await bench.build([c], { mergeMethod });
          const requests = [requestOf(one), requestOf(beside, { expectedHead: one.sha, composedWith: [a.prNumber] })];
          for (const request of requests) {
            const landed = await bench.world.forge.landCandidate(request);
            assert.equal(landed.kind, 'landed');
            assert.deepEqual(await bench.world.forge.landCandidate(request), landed);
            await bench.world.closePullRequest(request.entries[0]?.prNumber as PrNumber);
            assert.deepEqual(await bench.world.forge.landCandidate(request), landed);
            if (request !== requests[1]) continue;
            await bench.world.commit('main', { files: { later: 'later\n' } });
            assert.deepEqual(await bench.world.forge.landCandidate(request), landed);
          }
        });
      });
    }

    test('a path that both sides changed is not put together', async () => {
      const [one, other] = [await bench.build([a]), await bench.build([b])];
      await mustLand(one);
      const answer = await land(other, { expectedHead: one.sha, composedWith: [a.prNumber] });
      assert.deepEqual(answer, { kind: 'not_composable', detail: 'Both sides changed "a.txt".' });
      assert.equal(await head(), one.sha);
    });

    test('a file where the other side has a folder is not put together, nor is the same change on both', async () => {
      const folder = await bench.open('Folder', { files: { 'x/y': 'y\n', w: 'w\n' } });
      const file = await bench.open('File', { files: { x: 'x\n' } });
      const twin = await bench.open('Twin', { files: { 'x/y': 'y\n', z: 'z\n' } });
      const built = {
        folder: await bench.build([folder]),
        file: await bench.build([file]),
        twin: await bench.build([twin]),
      };
      await mustLand(built.folder);
      const more = { expectedHead: built.folder.sha, composedWith: [folder.prNumber] };
      assert.equal((await land(built.file, more)).kind, 'not_composable');
      assert.equal((await land(built.twin, more)).kind, 'not_composable');
    });

    test('a pull request that moved does not land, nor does one that is gone', async () => {
      const tested = await bench.build([a, b]);
      const moved = { kind: 'pull_request_moved', prNumber: b.prNumber };
      await bench.world.pushToPullRequest(b.prNumber, { files: { 'only-b': 'new\n' } });
      assert.deepEqual(await land(tested), moved);
      await bench.world.closePullRequest(b.prNumber);
      // A forge that keeps closed pull requests answers `refused`.
      const answer = await land(tested);
      assert.ok(answer.kind === 'pull_request_moved' || answer.kind === 'refused', answer.kind);
      assert.equal(answer.prNumber, b.prNumber);
      assert.equal(await head(), bench.base);
    });

    test('a target that somebody else moved is told with where it is', async () => {
      const tested = await bench.build([a]);
      const foreign = await bench.world.commit('main', { files: { foreign: 'x\n' } });
      assert.deepEqual(await land(tested), { kind: 'target_moved', head: foreign, isDescendant: true });
      const orphan = await bench.world.commitTo('refs/heads/main', undefined, { files: { new: 'x\n' } });
      assert.deepEqual(await land(tested), { kind: 'target_moved', head: orphan, isDescendant: false });
      await bench.world.createBranch('aside', orphan);
      await bench.world.deleteBranch('main');
      assert.deepEqual(await land(tested), { kind: 'target_moved', head: undefined, isDescendant: false });
      for (const targetBranch of ['--all', '-h', 'main^', '']) {
        const answer = await land(tested, { targetBranch });
        assert.deepEqual(answer, { kind: 'target_moved', head: undefined, isDescendant: false });
      }
    });

    test('a commit that came into the target by the side door has not landed', async () => {
      const tested = await bench.build([a]);
      const foreign = await bench.world.commit('main', { files: { foreign: 'x\n' } });
      const tree = await treeOf(foreign);
      const merge = await bench.git('commit-tree', '-p', foreign, '-p', tested.sha, '-m', 'Foreign merge', tree);
      await bench.world.createBranch('main', merge as Sha);
      assert.deepEqual(await land(tested), { kind: 'target_moved', head: merge, isDescendant: true });
    });

    test('of two that land at once exactly one does', async () => {
      for (const [round] of methods.entries()) {
        bench.base = await head();
        const racers = [];
        for (const file of ['r', 's', 't']) {
          const entry = await bench.open(file, { files: { [`${file}${round}`]: 'x\n' } });
          racers.push(await bench.build([entry]));
        }
        const other = bench.world.createForge({ directory: `${bench.world.folder}/other-${round}` });
        const answers = await Promise.all(
          racers.map((tested, index) => (index === 1 ? other : bench.world.forge).landCandidate(requestOf(tested))),
        );
        await other.close();
        const landed = answers.filter(({ kind }) => kind === 'landed');
        assert.equal(landed.length, 1, JSON.stringify(answers));
        assert.equal((landed[0] as Landed).pushedSha, await head());
        for (const answer of answers) {
          if (answer.kind === 'landed') continue;
          assert.deepEqual(answer, { kind: 'target_moved', head: await head(), isDescendant: true });
        }
      }
    });

    test('one request carried out twice at once lands once, and both hear of it', async () => {
      const request = requestOf(await bench.build([a, b]));
      const answers = await Promise.all([1, 2, 3].map(() => bench.world.forge.landCandidate(request)));
      for (const answer of answers) assert.deepEqual(answer, answers[0]);
      assert.equal(answers[0]?.kind, 'landed');
      assert.equal(await bench.git('rev-list', '--count', `${bench.base}..main`), '2');
    });

    test('branches with odd names are targets like others', async () => {
      for (const targetBranch of ['release/1.0', 'ümlaut', '$(id)', "quote'd"]) {
        await bench.world.createBranch(targetBranch, bench.base);
        const { number, headSha } = await bench.world.openPullRequest(targetBranch, { files: { odd: 'odd\n' } });
        const entry = { prNumber: number, headSha, title: 'Odd', author: 'Ada' };
        const tested = await bench.build([entry], { targetBranch });
        assert.equal((await land(tested)).kind, 'landed');
        assert.equal(await bench.git('rev-parse', `refs/heads/${targetBranch}`), tested.sha);
      }
    });

    test('candidates discarded after landing leave the target whole', async () => {
      const first = await bench.build([a]);
      const second = await bench.build([b], { beneath: [a] });
      await mustLand(first);
      await mustLand(second, { expectedHead: first.sha });
      for (const { candidateId, repository } of [first, second]) {
        await bench.world.forge.discardCandidate({
          repository,
          candidateId,
          prNumber: undefined,
          isBisection: false,
        });
      }
      for (const { prNumber } of [a, b, c]) await bench.world.closePullRequest(prNumber);
      await bench.git('gc', '--quiet', '--prune=now');
      await bench.git('fsck', '--strict');
      assert.equal(await treeOf('main'), second.tree);
    });
  });
}

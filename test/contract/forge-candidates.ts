import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';
import type { RunnerCheck } from '../../src/checks/check.ts';
import type { PrNumber } from '../../src/engine/model/pull-request.ts';
import type { BuildRequest, CandidateEntry } from '../../src/forge/forge.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { madeOnce } from '../helpers/made.ts';
import { type GitWorld, isUnavailable } from './forge.ts';
import { CandidateBench, lines, METHODS, type Methods } from './forge-bench.ts';

/** The promises about candidates, with a git repository behind the forge. */
export function candidateContract(
  name: string,
  createWorld: () => Promise<GitWorld>,
  methods: Methods = METHODS,
): void {
  describe(`forge contract, candidates: ${name}`, () => {
    const bench = madeOnce(() => CandidateBench.create(createWorld));
    after(() => bench.world.close());
    beforeEach(() => bench.reset());

    describe('names', () => {
      const everyWay = async (use: (mergeMethod: BuildRequest['mergeMethod']) => Promise<void>) => {
        for (const mergeMethod of methods) await use(mergeMethod);
      };

      test('the same request makes the same commit, also for another server [C45]', async () => {
        const members = await bench.openTwoOnOneFile();
        await everyWay(async (mergeMethod) => {
          const request = bench.request(members, { mergeMethod });
          const first = await bench.world.forge.buildCandidate(request);
          assert.deepEqual(await bench.world.forge.buildCandidate(request), first);
          const other = bench.world.createForge({ directory: join(bench.world.folder, 'other') });
          assert.deepEqual(await other.buildCandidate(request), first);
          await other.close();
        });
      });

      test('no two candidates share a commit', async () => {
        const [one] = await bench.openTwoOnOneFile();
        const shas = new Set<Sha>();
        await everyWay(async (mergeMethod) => {
          for (const members of [[one], []]) {
            for (let round = 0; round < 2; round += 1) shas.add((await bench.build(members, { mergeMethod })).sha);
          }
        });
        assert.equal(shas.size, 4 * methods.length);
      });

      test('the commit names its candidate and is kept, also from gc', async () => {
        const [one] = await bench.openTwoOnOneFile();
        const built = await bench.build([one]);
        assert.equal(await bench.show(built.sha, '%(trailers:key=Sluice-Candidate,valueonly)'), built.candidateId);
        assert.equal(await bench.git('rev-parse', `refs/sluice/candidates/${built.candidateId}`), built.sha);
        await bench.git('gc', '--quiet', '--prune=now');
        await bench.git('fsck', '--strict');
        assert.equal(await bench.git('rev-parse', `${built.sha}^{tree}`), built.tree);
        assert.equal(await bench.git('rev-parse', 'refs/heads/main'), bench.base);
      });

      test('on a parent it is the parent and the members, and the same tree as without', async () => {
        const [one, two] = await bench.openTwoOnOneFile();
        await everyWay(async (mergeMethod) => {
          const parent = await bench.build([one], { mergeMethod });
          const onParent = await bench.build([two], { mergeMethod, parent: parent.sha, beneath: [one] });
          const anew = await bench.build([two], { mergeMethod, beneath: [one] });
          assert.equal(onParent.tree, anew.tree);
          assert.equal(await bench.git('merge-base', parent.sha, onParent.sha), parent.sha);
          assert.notEqual(await bench.git('merge-base', parent.sha, anew.sha), parent.sha);
          const lost = 'b'.repeat(bench.base.length) as Sha;
          assert.equal((await bench.build([two], { mergeMethod, parent: lost, beneath: [one] })).tree, anew.tree);
        });
      });

      test('a test of the head is one commit with its tree', async () => {
        const built = await bench.build([]);
        assert.equal(built.tree, await bench.git('rev-parse', `${bench.base}^{tree}`));
        assert.equal(await bench.show(built.sha, '%P'), bench.base);
      });

      test('odd titles stay one line', async () => {
        const entry = await bench.open('x', { files: { c: 'c\n' } });
        for (const [title, subject] of [
          ['a\nb\0c\td', 'a b c d'],
          ['', `Pull request ${entry.prNumber}`],
          ['--option', '--option'],
          ['Sluice-Candidate: none', 'Sluice-Candidate: none'],
        ] as const) {
          const built = await bench.build([{ ...entry, title }]);
          assert.equal(await bench.show(built.sha, '%s'), `${subject} (#${entry.prNumber})`);
          assert.equal(await bench.show(built.sha, '%(trailers:key=Sluice-Candidate,valueonly)'), built.candidateId);
        }
      });
    });

    describe('conflicts', () => {
      const conflict = async (members: readonly CandidateEntry[], more: Partial<BuildRequest> = {}) => {
        const answer = await bench.world.forge.buildCandidate(bench.request(members, more));
        assert.equal(answer.kind, 'conflict');
        return answer.kind === 'conflict' ? [answer.prNumber, answer.culprit] : [];
      };

      for (const mergeMethod of methods) {
        test(`${mergeMethod}: the culprit is the entry at which it begins`, async () => {
          const free = await bench.open('Free', { files: { 'b.txt': lines({ 1: 'free' }) } });
          const top = await bench.open('Top', { files: { 'a.txt': lines({ 2: 'top' }) } });
          const end = await bench.open('End', { files: { 'a.txt': lines({ 30: 'end' }) } });
          const both = await bench.open('Both', { files: { 'a.txt': lines({ 2: 'x', 30: 'y' }) } });
          const number = both.prNumber;
          assert.deepEqual(await conflict([free, top, end, both], { mergeMethod }), [number, top.prNumber]);
          assert.deepEqual(await conflict([both], { mergeMethod, beneath: [free, end, top] }), [number, end.prNumber]);
          assert.deepEqual(await conflict([top, both, end], { mergeMethod }), [number, top.prNumber]);
          const parent = await bench.build([end], { mergeMethod, beneath: [free] });
          const more = { mergeMethod, parent: parent.sha, beneath: [free, end] };
          assert.deepEqual(await conflict([both], more), [number, end.prNumber]);
          assert.deepEqual(await conflict([top, both], more), [number, end.prNumber]);
          assert.deepEqual(await conflict([free], { mergeMethod, beneath: [top, both] }), [free.prNumber, number]);
        });

        test(`${mergeMethod}: with the base alone there is no culprit`, async () => {
          const other = await bench.open('Other', { files: { 'a.txt': lines({ 2: 'other' }) } });
          const entry = await bench.open('Mine', { files: { 'a.txt': lines({ 2: 'mine' }) } });
          const free = await bench.open('Free', { files: { 'b.txt': lines({ 1: 'free' }) } });
          bench.base = await bench.world.commit('main', { files: { 'a.txt': lines({ 2: 'theirs' }) } });
          assert.deepEqual(await conflict([entry], { mergeMethod }), [entry.prNumber, undefined]);
          const answer = await bench.world.forge.buildCandidate(bench.request([entry], { mergeMethod }));
          assert.deepEqual(answer.kind === 'conflict' && answer.files, ['a.txt']);
          assert.deepEqual(await conflict([free, entry], { mergeMethod }), [entry.prNumber, undefined]);
          assert.deepEqual(await conflict([entry], { mergeMethod, beneath: [other] }), [
            entry.prNumber,
            other.prNumber,
          ]);
        });

        test(`${mergeMethod}: histories without a common commit conflict with the base`, async () => {
          const headSha = await bench.world.commitTo('refs/pull/900/head', undefined, { files: { z: 'z\n' } });
          const entry = { prNumber: 900 as PrNumber, headSha, title: 'Alien', author: 'Ada' };
          assert.deepEqual(await conflict([entry], { mergeMethod }), [900, undefined]);
        });
      }
    });

    describe('required checks', () => {
      const sourcesOf = async (files: Readonly<Record<string, string>>) => {
        bench.base = await bench.world.commit('main', { files });
        const { file, fileProblem } = (await bench.build([])).sources;
        return fileProblem ?? file;
      };
      const statuses = (...names: readonly string[]) =>
        `version: 0.1\nmerge:\n  required_statuses:\n${names.map((name) => `    - ${name}\n`).join('')}`;

      test('they are read from the base, never from the change [C27]', async () => {
        const file = { '.sluice.yaml': statuses('Anything') };
        const entry = await bench.open('Loosen', { files: file });
        // Whether names are bound to accounts is the forge's own way.
        const { isPinned: _, ...sources } = (await bench.build([entry])).sources;
        assert.deepEqual(sources, { file: undefined, fileProblem: undefined, protection: undefined, commands: '' });
        assert.deepEqual(await sourcesOf({ '.sluice.yaml': statuses('Build', '"Test: all"', 'Build') }), [
          'Build',
          'Test: all',
        ]);
      });

      test('the one file goes before the other, even if it names no checks', async () => {
        assert.deepEqual(await sourcesOf({ '.trunk/trunk.yaml': statuses('Trunk') }), ['Trunk']);
        assert.deepEqual(await sourcesOf({ '.sluice.yaml': statuses('Own') }), ['Own']);
        assert.equal(await sourcesOf({ '.sluice.yaml': 'version: 0.1\n' }), undefined);
      });

      test('an unusable candidate is told by its kind', async () => {
        const bad = { '.sluice.yaml': 'merge: {required_statuses: Build}\n' };
        assert.equal(await sourcesOf(bad), 'START_TEST_RUN_CONFIG_BAD_REQUIRED_STATUSES');
        assert.equal(await sourcesOf({ '.sluice.yaml': 'a: b: c\n' }), 'START_TEST_RUN_CONFIG_PARSING_FAILURE');
        assert.equal(await sourcesOf({ '.sluice.yaml': 'version: 2\n' }), 'START_TEST_RUN_CONFIG_BAD_VERSION');
        const huge = `# ${'x'.repeat(70_000)}\n${statuses('Build')}`;
        assert.equal(await sourcesOf({ '.sluice.yaml': huge }), 'START_TEST_RUN_CONFIG_PARSING_FAILURE');
      });

      test('registered checks stand for protection, and their commands are told apart', async () => {
        const sourcesWith = async (...checks: readonly RunnerCheck[]) =>
          (await bench.build([], { repository: { ...bench.world.repository, checks } })).sources;
        const unit = { name: 'unit', command: 'npm test', timeoutMinutes: null };
        const lint = { name: 'lint', command: 'npm run lint', timeoutMinutes: null };
        const first = await sourcesWith(unit, lint);
        assert.deepEqual(first.protection, ['unit', 'lint']);
        assert.match(first.commands, /^[0-9a-f]{64}$/);
        assert.equal((await sourcesWith(lint, unit)).commands, first.commands);
        assert.notEqual((await sourcesWith({ ...unit, command: 'true' }, lint)).commands, first.commands);
        assert.deepEqual([(await sourcesWith()).protection, (await sourcesWith()).commands], [undefined, '']);
      });
    });

    describe('refs', () => {
      const heads = async () =>
        (await bench.git('for-each-ref', '--format=%(refname)', 'refs/heads', 'refs/sluice')).split('\n');

      test('a candidate is shown under its test branch, and discarded, as often as one likes', async () => {
        const [one] = await bench.openTwoOnOneFile();
        const { forge, repository } = bench.world;
        const known = await heads();
        for (const isBisection of [false, true]) {
          for (const prNumber of [one.prNumber, undefined]) {
            const { sha, candidateId } = await bench.build([one]);
            const request = { repository, targetBranch: 'main', candidateId, prNumber, isBisection };
            const subject = prNumber === undefined ? 'head' : `pr-${prNumber}`;
            const branch = `sluice/${subject}/${candidateId}${isBisection ? '-bisection' : ''}`;
            for (let round = 0; round < 2; round += 1) {
              assert.deepEqual(await forge.publishCandidate({ ...request, sha }), { kind: 'published', branch });
              assert.equal(await bench.git('rev-parse', `refs/heads/${branch}`), sha);
            }
            assert.equal((await heads()).length, known.length + 2);
            for (let round = 0; round < 2; round += 1) await forge.discardCandidate(request);
            assert.deepEqual(await heads(), known);
          }
        }
        await forge.discardCandidate({
          repository,
          candidateId: randomUUID(),
          prNumber: undefined,
          isBisection: false,
        });
        assert.deepEqual(await heads(), known);
      });

      test('the commit of a failed run stays where people can fetch it, without its branch [E93]', async () => {
        const [one] = await bench.openTwoOnOneFile();
        const { forge, repository } = bench.world;
        const known = await heads();
        const { sha, candidateId } = await bench.build([one]);
        const request = { repository, targetBranch: 'main', candidateId, prNumber: one.prNumber, isBisection: false };
        await forge.publishCandidate({ ...request, sha });
        await forge.discardCandidate({ ...request, keepsCommit: true });
        const kept = `refs/sluice/candidates/${candidateId}`;
        assert.deepEqual(await heads(), [...known, kept].sort());
        assert.equal(await bench.git('rev-parse', kept), sha);
        const fetched = bench.treeBy(async (git) => {
          await git('fetch', '--quiet', 'origin', kept);
          await git('checkout', '--quiet', '--detach', sha);
        });
        assert.equal(await fetched, await bench.git('rev-parse', `${sha}^{tree}`));
        assert.ok((await forge.listCandidateIds(repository)).includes(candidateId));
        await forge.discardCandidate(request);
        assert.deepEqual(await heads(), known);
      });

      test('the prefix is free, and a branch in the way is a refusal', async () => {
        const { sha, candidateId } = await bench.build([]);
        const forge = bench.world.createForge({ testBranchPrefix: 'trunk-merge' });
        const { repository } = bench.world;
        const request = {
          repository,
          targetBranch: 'main',
          candidateId,
          prNumber: 7 as PrNumber,
          isBisection: false,
          sha,
        };
        const branch = `trunk-merge/pr-7/${candidateId}`;
        assert.deepEqual(await forge.publishCandidate(request), { kind: 'published', branch });
        await forge.discardCandidate(request);
        await bench.world.createBranch('trunk-merge', bench.base);
        const answer = await forge.publishCandidate(request);
        assert.equal(answer.kind === 'refused' && answer.reason, 'START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH');
        await forge.close();
      });

      test('ancestry is told, also for a commit that is gone', async () => {
        const { forge, repository } = bench.world;
        const next = await bench.world.commit('main', { files: { n: 'n\n' } });
        const ask = (ancestor: Sha, descendant: Sha) => forge.isAncestor({ repository, ancestor, descendant });
        assert.equal(await ask(bench.base, next), true);
        assert.equal(await ask(next, next), true);
        assert.equal(await ask(next, bench.base), false);
        assert.equal(await ask('c'.repeat(next.length) as Sha, next), false);
        await assert.rejects(ask(next, 'c'.repeat(next.length) as Sha), isUnavailable);
        await assert.rejects(ask('--all' as Sha, next), /no sha/);
      });

      test('a repository that is not there is a fault, and what was lost is a fault', async () => {
        const entry = await bench.open('x', { files: { c: 'c\n' } });
        const gone = { ...entry, headSha: 'd'.repeat(entry.headSha.length) as Sha };
        await assert.rejects(bench.world.forge.buildCandidate(bench.request([gone])), isUnavailable);
        const repair = await bench.world.breakRepository();
        await assert.rejects(bench.world.forge.buildCandidate(bench.request([entry])), isUnavailable);
        await repair();
        await bench.build([entry]);
      });

      test('many candidates at once are all built', async () => {
        const entries: CandidateEntry[] = [];
        for (let index = 0; index < 8; index += 1)
          entries.push(await bench.open(`${index}`, { files: { [`f${index}`]: `${index}\n` } }));
        const built = await Promise.all(
          entries.map((entry, index) => bench.build([entry], { beneath: entries.slice(0, index) })),
        );
        for (const [index, { sha }] of built.entries())
          assert.equal(await bench.git('rev-list', '--count', `${bench.base}..${sha}`), String(index + 1));
      });
    });
  });
}

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { PrNumber } from '../../src/engine/model/pull-request.ts';
import type { BuildRequest, CandidateEntry } from '../../src/forge/forge.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { type Change, type GitWorld, isUnavailable } from './forge.ts';
import { CandidateBench, lines, PLANNED_AT } from './forge-bench.ts';
import { runGit } from './plain-repository.ts';

/** The promises about candidates, with a git repository behind the forge. */
export function candidateContract(name: string, createWorld: () => Promise<GitWorld>): void {
  describe(`forge contract, candidates: ${name}`, () => {
    let bench: CandidateBench;
    beforeEach(async () => {
      bench = await CandidateBench.create(createWorld);
    });
    afterEach(() => bench.world.close());

    const twoOnOneFile = async () => [
      await bench.open('Change the top', {
        files: { 'a.txt': lines({ 2: 'top' }) },
        author: 'Grace',
        email: 'g@x.test',
      }),
      await bench.open(
        'Change the end',
        { files: { 'a.txt': lines({ 30: 'end' }) }, author: 'Grace', email: 'g@x.test', message: 'One\n\nWhy.' },
        { files: { 'c.txt': 'c\n' }, author: 'Linus', email: 'l@x.test', message: 'Two' },
      ),
    ];

    describe('merge methods', () => {
      test('a merge commit has two parents and the tree git merge gives [C17]', async () => {
        const [one, two] = (await twoOnOneFile()) as [CandidateEntry, CandidateEntry];
        const built = await bench.build([one, two], { mergeMethod: 'MERGE_COMMIT' });
        const tree = await bench.treeBy(async (git) => {
          await git('merge', '--no-ff', '-m', 'x', `refs/pull/${one.prNumber}`);
          await git('merge', '--no-ff', '-m', 'x', `refs/pull/${two.prNumber}`);
        });
        assert.equal(built.tree, tree);
        assert.equal(await bench.git('rev-parse', `${built.sha}^{tree}`), tree);
        const [first, second] = (await bench.show(built.sha, '%P')).split(' ');
        assert.equal(second, two.headSha);
        assert.equal(await bench.show(first ?? '', '%P'), `${bench.base} ${one.headSha}`);
        assert.equal(await bench.show(built.sha, '%cn <%ce> %ct'), `Sluice <sluice@localhost> ${PLANNED_AT / 1000}`);
        assert.match(
          await bench.show(built.sha, '%B'),
          new RegExp(`^Merge pull request #${two.prNumber}\n\nChange the end\n`),
        );
      });

      test('a squash has one parent, the title, the author of the head and the others as trailers [C42]', async () => {
        const [one, two] = (await twoOnOneFile()) as [CandidateEntry, CandidateEntry];
        const built = await bench.build([one, two]);
        const tree = await bench.treeBy(async (git) => {
          await git('merge', '--no-ff', '-m', 'x', `refs/pull/${one.prNumber}`, `refs/pull/${two.prNumber}`);
        });
        assert.equal(built.tree, tree);
        assert.equal(await bench.git('rev-list', '--count', `${bench.base}..${built.sha}`), '2');
        assert.equal(await bench.git('rev-list', '--count', '--merges', `${bench.base}..${built.sha}`), '0');
        assert.equal(await bench.show(built.sha, '%an <%ae> %at'), `Linus <l@x.test> ${PLANNED_AT / 1000}`);
        assert.equal(await bench.show(built.sha, '%s'), `Change the end (#${two.prNumber})`);
        assert.equal(await bench.show(built.sha, '%(trailers:key=Co-authored-by,valueonly)'), 'Grace <g@x.test>');
        assert.equal(await bench.show(`${built.sha}^`, '%an'), 'Grace');
        assert.equal(await bench.show(`${built.sha}^`, '%(trailers:key=Co-authored-by,valueonly)'), '');
      });

      test('a rebase makes every commit again, as git rebase does [C43]', async () => {
        const [one, two] = (await twoOnOneFile()) as [CandidateEntry, CandidateEntry];
        const built = await bench.build([one, two], { mergeMethod: 'REBASE' });
        const tree = await bench.treeBy(async (git) => {
          await git('rebase', '--quiet', 'HEAD', `refs/pull/${one.prNumber}`);
          const tip = await git('rev-parse', 'HEAD');
          await git('rebase', '--quiet', tip, `refs/pull/${two.prNumber}`);
        });
        assert.equal(built.tree, tree);
        const log = await bench.git('log', '--reverse', '--format=%an <%ae> %at %s', `${bench.base}..${built.sha}`);
        assert.deepEqual(log.split('\n'), [
          'Grace <g@x.test> 1700000000 Change something',
          'Grace <g@x.test> 1700000000 One',
          'Linus <l@x.test> 1700000000 Two',
        ]);
        assert.equal(await bench.show(`${built.sha}^`, '%B'), 'One\n\nWhy.');
      });

      test('a rebase over merges of the target brings what the pull request brought', async () => {
        const { number } = await bench.world.openPullRequest('main', { files: { 'a.txt': lines({ 2: 'mine' }) } });
        bench.base = await bench.world.commit('main', { files: { 'a.txt': lines({ 30: 'theirs' }), 'd.txt': 'd\n' } });
        const clone = join(bench.world.folder, 'merging');
        await runGit(bench.world.folder, ['clone', '--quiet', bench.world.path, clone]);
        const git = (...args: readonly string[]) => runGit(clone, args);
        await git('fetch', '--quiet', 'origin', `refs/pull/${number}/head`);
        await git('checkout', '--quiet', '--detach', 'FETCH_HEAD');
        await git('merge', '--quiet', '--no-ff', '-m', 'Merge main', 'origin/main');
        await git('commit', '--quiet', '--allow-empty', '-m', 'Empty on purpose');
        await bench.world.pushFromClone(number, clone);
        const headSha = (await git('rev-parse', 'HEAD')) as Sha;
        bench.base = await bench.world.commit('main', { files: { 'a.txt': lines({ 30: 'theirs again' }) } });
        const entry = { prNumber: number, headSha, title: 'Mine', author: 'Ada' };
        const built = await bench.build([entry], { mergeMethod: 'REBASE' });
        assert.equal(await bench.git('show', `${built.sha}:a.txt`), lines({ 2: 'mine', 30: 'theirs again' }).trim());
        const log = await bench.git('log', '--format=%s', `${bench.base}..${built.sha}`);
        assert.deepEqual(log.split('\n'), ['Empty on purpose', 'Change something']);
      });

      test('an entry that brings nothing has a commit of its own all the same', async () => {
        const files = { 'a.txt': lines({ 2: 'same' }) };
        const [one, two] = [await bench.open('One', { files }), await bench.open('Two', { files })];
        for (const mergeMethod of ['MERGE_COMMIT', 'SQUASH', 'REBASE'] as const) {
          const alone = await bench.build([one], { mergeMethod });
          const both = await bench.build([two], { mergeMethod, parent: alone.sha, beneath: [one] });
          assert.equal(both.tree, alone.tree);
          assert.equal(await bench.git('rev-list', '--first-parent', '--count', `${alone.sha}..${both.sha}`), '1');
        }
      });

      test('bytes, encodings and trailers of rebased commits are kept', async () => {
        const latin1 = Buffer.from(
          'f\xfcr alle\n\nSigned-off-by: J\xf6rg <j@x.test>\nSluice-Candidate: old\n',
          'latin1',
        );
        const entry = await bench.open(
          'x',
          { files: { c: 'c\n' }, message: 'à', author: '' },
          { files: { d: 'd\n' }, message: latin1, encoding: 'ISO-8859-1' },
        );
        const built = await bench.build([entry], { mergeMethod: 'REBASE' });
        assert.equal(
          await bench.show(built.sha, '%B'),
          `für alle\n\nSigned-off-by: Jörg <j@x.test>\nSluice-Pull-Request: ${entry.prNumber}\nSluice-Candidate: ${built.candidateId}`,
        );
        assert.equal(await bench.show(`${built.sha}^`, '%B'), 'à');
        await bench.git('fsck', '--strict');
      });
    });

    describe('messages', () => {
      const openWith = async (message: string | Buffer, more: Partial<Change> = {}) =>
        bench.open('Title', { files: { c: 'c\n' }, message, ...more });
      const messageOf = async (entry: CandidateEntry, mergeMethod: BuildRequest['mergeMethod'] = 'SQUASH') => {
        const { sha, candidateId } = await bench.build([entry], { mergeMethod });
        const message = await bench.show(sha, '%B');
        const origin = `Sluice-Pull-Request: ${entry.prNumber}\nSluice-Candidate: ${candidateId}`;
        assert.ok(message.endsWith(`\n${origin}`), message);
        return message.slice(0, -origin.length);
      };

      test('a squash has title and body, and the trailers of the author stay trailers [C42] [C44]', async () => {
        const body = 'Why.\n\n  an example\n\nIn short.';
        const trailers = 'Signed-off-by: Ada <ada@example.test>\nFixes: #1\n  and #2\n';
        const entry = await openWith(`Title\n\n\n${body}\n\n${trailers}`);
        assert.equal(await messageOf(entry), `Title (#${entry.prNumber})\n\n${body}\n\n${trailers}`);
        assert.equal(await messageOf(await openWith('Title')), `Title (#${entry.prNumber + 1})\n\n`);
        const indented = await openWith('Title\n\n    only code\n');
        assert.equal(await messageOf(indented), `Title (#${indented.prNumber})\n\n    only code\n\n`);
      });

      test('an author is named once [C42]', async () => {
        const linus = { author: 'Linus', email: 'l@x.test' };
        const grace = { author: 'Grace', email: 'g@x.test' };
        const message = 'Title\n\nCo-authored-by: G. Hopper <G@x.test>\nCo-authored-by: Eve <e@x.test>\n';
        const entry = await bench.open(
          'Title',
          { ...linus, files: { c: '1\n' } },
          { ...grace, files: { c: '2\n' } },
          { ...linus, files: { c: '3\n' } },
          { files: { c: '4\n' }, message },
        );
        const { sha } = await bench.build([entry]);
        const named = await bench.show(sha, '%an, %(trailers:key=Co-authored-by,valueonly,separator=%x2C )');
        assert.equal(named, 'Ada, G. Hopper <G@x.test>, Eve <e@x.test>, Linus <l@x.test>');
      });

      test('encodings of the body, and lines like our own, do not show [C42]', async () => {
        const latin1 = Buffer.from(
          'f\xfcr\r\n\r\nalle\r\n\nSluice-Candidate: other\nSluice-Pull-Request: 99\n',
          'latin1',
        );
        const entry = await openWith(latin1, { encoding: 'ISO-8859-1' });
        assert.equal(await messageOf(entry), `Title (#${entry.prNumber})\n\nalle\r\n\n`);
        await bench.git('fsck', '--strict');
        assert.equal(
          await messageOf(await openWith(`x\n\n${'y'.repeat(2_000)}\0z`)),
          `Title (#${entry.prNumber + 1})\n\n${'y'.repeat(2_000)}z\n\n`,
        );
      });

      test('a line in the body gives another title, except to a rebase [C18]', async () => {
        const body = 'Why.\nmerge-commit-title: Better: title  \nMore.';
        const entry = await openWith(`Title\n\n${body}\n`);
        assert.equal(await messageOf(entry), `Better: title\n\n${body}\n\n`);
        assert.equal(await messageOf(entry, 'MERGE_COMMIT'), 'Better: title\n\nTitle\n\n');
        assert.equal(await messageOf(entry, 'REBASE'), `Title\n\n${body}\n\n`);
        const last = await openWith('Title\n\nmerge-commit-title: X\r\n');
        assert.equal(await messageOf(last, 'MERGE_COMMIT'), 'X\n\nTitle\n\n');
      });

      test('no words in a title or message keep CI from running [C20]', async () => {
        const words = ['[skip ci]', '[CI skip]', '[no ci]', '[skip actions]', '[actions skip]', '[skip-ci]'];
        const entry = await bench.open(`Title ${words.join('')}`, {
          files: { c: 'c\n' },
          message: `Title ${words.join('')}\n\nWhy [skip ci].\n\nskip-checks: true\n`,
        });
        for (const mergeMethod of ['MERGE_COMMIT', 'SQUASH', 'REBASE'] as const) {
          const message = await messageOf(entry, mergeMethod);
          assert.match(message, /\(skip ci\)\(CI skip\)\(no ci\)\(skip actions\)\(actions skip\)\(skip-ci\)/);
          assert.doesNotMatch(message, /\[(?:skip|ci|no|actions)|^skip-checks: true/im);
        }
      });

      test('a line that only looks like one gives no title [C18]', async () => {
        for (const line of [
          'Merge-Commit-Title: X',
          'see merge-commit-title: X',
          'merge-commit-title:',
          ' merge-commit-title: X',
        ]) {
          const entry = await openWith(`merge-commit-title: Y\n\n${line}\n\nEnd.\n`);
          assert.match(await messageOf(entry, 'MERGE_COMMIT'), /^Merge pull request #/);
          assert.match(await messageOf(entry), /^Title \(#/);
        }
      });
    });

    describe('names', () => {
      const everyWay = async (use: (mergeMethod: BuildRequest['mergeMethod']) => Promise<void>) => {
        for (const mergeMethod of ['MERGE_COMMIT', 'SQUASH', 'REBASE'] as const) await use(mergeMethod);
      };

      test('the same request makes the same commit, also for another server [C45]', async () => {
        const members = await twoOnOneFile();
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
        const [one] = await twoOnOneFile();
        const shas = new Set<Sha>();
        await everyWay(async (mergeMethod) => {
          for (const members of [[one as CandidateEntry], []]) {
            for (let round = 0; round < 2; round += 1) shas.add((await bench.build(members, { mergeMethod })).sha);
          }
        });
        assert.equal(shas.size, 12);
      });

      test('the commit names its candidate and is kept, also from gc', async () => {
        const [one] = await twoOnOneFile();
        const built = await bench.build([one as CandidateEntry]);
        assert.equal(await bench.show(built.sha, '%(trailers:key=Sluice-Candidate,valueonly)'), built.candidateId);
        assert.equal(await bench.git('rev-parse', `refs/sluice/candidates/${built.candidateId}`), built.sha);
        await bench.git('gc', '--quiet', '--prune=now');
        await bench.git('fsck', '--strict');
        assert.equal(await bench.git('rev-parse', `${built.sha}^{tree}`), built.tree);
        assert.equal(await bench.git('rev-parse', 'refs/heads/main'), bench.base);
      });

      test('on a parent it is the parent and the members, and the same tree as without', async () => {
        const [one, two] = (await twoOnOneFile()) as [CandidateEntry, CandidateEntry];
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

      for (const mergeMethod of ['MERGE_COMMIT', 'SQUASH', 'REBASE'] as const) {
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

      test('the one file goes before the other, whatever is in it', async () => {
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
        const sourcesWith = async (...checks: readonly { readonly name: string; readonly command: string }[]) =>
          (await bench.build([], { repository: { ...bench.world.repository, checks } })).sources;
        const unit = { name: 'unit', command: 'npm test' };
        const lint = { name: 'lint', command: 'npm run lint' };
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
        const [one] = await twoOnOneFile();
        const { forge, repository } = bench.world;
        for (const isBisection of [false, true]) {
          for (const prNumber of [one?.prNumber, undefined]) {
            const { sha, candidateId } = await bench.build([one as CandidateEntry]);
            const request = { repository, targetBranch: 'main', candidateId, prNumber, isBisection };
            const subject = prNumber === undefined ? 'head' : `pr-${prNumber}`;
            const branch = `sluice/${subject}/${candidateId}${isBisection ? '-bisection' : ''}`;
            for (let round = 0; round < 2; round += 1) {
              assert.deepEqual(await forge.publishCandidate({ ...request, sha }), { kind: 'published', branch });
              assert.equal(await bench.git('rev-parse', `refs/heads/${branch}`), sha);
            }
            assert.equal((await heads()).length, 3);
            for (let round = 0; round < 2; round += 1) await forge.discardCandidate(request);
            assert.deepEqual(await heads(), ['refs/heads/main']);
          }
        }
        await forge.discardCandidate({
          repository,
          candidateId: randomUUID(),
          prNumber: undefined,
          isBisection: false,
        });
        assert.deepEqual(await heads(), ['refs/heads/main']);
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

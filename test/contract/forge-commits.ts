import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';
import type { BuildRequest, CandidateEntry } from '../../src/forge/forge.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { madeOnce } from '../helpers/made.ts';
import type { Change, GitWorld } from './forge.ts';
import { CandidateBench, lines, METHODS, PLANNED_AT } from './forge-bench.ts';
import { runGit } from './plain-repository.ts';

/** Each is built on the one before, and changes the same line. */
async function openStack({ world }: CandidateBench, count: number): Promise<CandidateEntry[]> {
  const stack: CandidateEntry[] = [];
  for (let index = 0; index < count; index += 1) {
    const change = { files: { 'a.txt': lines({ 5: `version ${index}` }) }, message: `Step ${index}` };
    const { number, headSha: fresh } = await world.openPullRequest('main', change);
    const below = stack.at(-1);
    const headSha =
      below === undefined ? fresh : await world.commitTo(`refs/pull/${number}/head`, below.headSha, change);
    const heads = stack.map((member) => member.headSha);
    stack.push({ prNumber: number, headSha, title: `Step ${index}`, author: 'Ada', ...(below && { below: heads }) });
  }
  return stack;
}

/** The promises about the commits of candidates, which the same code makes for all forges. */
export function commitContract(name: string, createWorld: () => Promise<GitWorld>): void {
  describe(`forge contract, commits: ${name}`, () => {
    const bench = madeOnce(() => CandidateBench.create(createWorld));
    after(() => bench.world.close());
    beforeEach(() => bench.reset());

    test('both sides of a conflict are shown, and nothing of two that merge [E94]', async () => {
      const { forge, repository } = bench.world;
      const one = await bench.open('Theirs', { files: { 'a.txt': lines({ 5: 'theirs' }) } });
      const target = await bench.world.commit('main', { files: { 'a.txt': lines({ 5: 'ours' }) } });
      const ask = (head: Sha, maxLength = 10_000) =>
        forge.showConflict?.({ repository, target, head, maxLength }) ?? Promise.resolve(undefined);
      const shown = await ask(one.headSha);
      assert.deepEqual([shown?.files, shown?.isCut], [['a.txt'], false]);
      assert.match(
        shown?.text ?? '',
        /^--- a\.txt\n@@ line \d+ @@\n[\s\S]*<<<<<<< \S+\nours\n=======\ntheirs\n>>>>>>> /,
      );
      assert.equal(await ask(target), undefined);
      assert.equal(await ask('0'.repeat(40) as Sha), undefined);
      assert.equal((await ask(one.headSha, 20))?.isCut, true);
    });

    describe('merge methods', () => {
      test('a merge commit has two parents and the tree git merge gives [C17]', async () => {
        const [one, two] = await bench.openTwoOnOneFile();
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

      describe('with merge=union', () => {
        const CHANGES = 'CHANGELOG.md';
        const UNION = `${CHANGES} merge=union\n`;
        const addLine = (line: string): Change => ({ files: { [CHANGES]: `# Changes\n${line}\n` } });

        /** Two pull requests that add a line at the same place of a branch with these attributes. */
        async function openTwo(attributes: string) {
          bench.base = await bench.world.commit('main', {
            files: { '.gitattributes': attributes, [CHANGES]: '# Changes\n' },
          });
          return [
            await bench.open('One', addLine('one'), addLine('one\nuno')),
            await bench.open('Two', addLine('two')),
          ];
        }

        test('two pull requests that add a line get the tree that a clone of git makes [C15]', async () => {
          const [one, two] = (await openTwo(UNION)) as [CandidateEntry, CandidateEntry];
          const numbers = [one, two].map(({ prNumber }) => `refs/pull/${prNumber}`);
          for (const mergeMethod of METHODS) {
            const built = await bench.build([one, two], { mergeMethod });
            const tree = await bench.treeBy(async (git) => {
              for (const ref of numbers) {
                if (mergeMethod === 'REBASE') await git('rebase', '--quiet', await git('rev-parse', 'HEAD'), ref);
                else await git('merge', '--no-ff', '-m', 'x', ref);
              }
            });
            assert.equal(built.tree, tree, mergeMethod);
            const text = await bench.git('show', `${built.sha}:${CHANGES}`);
            assert.deepEqual(text.split('\n'), ['# Changes', 'one', 'uno', 'two'], mergeMethod);
          }
        });

        test('other merge drivers of the branch change nothing, and attributes of each base count for it [C15]', async () => {
          for (const attributes of [
            '',
            `${CHANGES} merge=ours\n`,
            `${UNION}${CHANGES} -merge\n`,
            '\0 merge=union',
            UNION,
          ]) {
            const two = await openTwo(attributes);
            const answer = await bench.world.forge.buildCandidate(bench.request(two));
            assert.equal(answer.kind, attributes === UNION ? 'built' : 'conflict', JSON.stringify(attributes));
            await bench.reset();
          }
        });

        test('a pull request that sets the attribute for itself is merged without it [C15]', async () => {
          const [, two] = await openTwo('');
          const own = await bench.open(
            'Own',
            { files: { '.gitattributes': UNION } },
            addLine('own'),
            addLine('own\nowned'),
          );
          const bases = [bench.base, (await bench.build([two as CandidateEntry])).sha];
          for (const mergeMethod of METHODS) {
            const kinds = [];
            for (const base of bases)
              kinds.push((await bench.world.forge.buildCandidate(bench.request([own], { mergeMethod, base }))).kind);
            assert.deepEqual(kinds, ['built', 'conflict'], mergeMethod);
          }
        });
      });

      test('a stack whose members change one line has one tree by every method [C70]', async () => {
        const stack = await openStack(bench, 3);
        await bench.world.commit('main', { files: { 'b.txt': lines({ 1: 'moved' }) } });
        bench.base = (await bench.git('rev-parse', 'refs/heads/main')) as Sha;
        const tip = stack.at(-1) as CandidateEntry;
        const tree = await bench.treeBy((git) => git('merge', '--no-ff', '-m', 'x', `refs/pull/${tip.prNumber}`));
        for (const mergeMethod of METHODS) {
          const built = await bench.build(stack, { mergeMethod });
          assert.equal(built.tree, tree, mergeMethod);
          const [first, ...above] = stack as [CandidateEntry, ...CandidateEntry[]];
          const lower = await bench.build([first], { mergeMethod });
          // The lower part has landed, and the forge knows its heads no longer by the branch.
          const upper = await bench.build(above, { mergeMethod, base: lower.sha });
          assert.equal(upper.tree, tree, `${mergeMethod} on what landed`);
        }
        const commits = await bench.build(stack, { mergeMethod: 'REBASE' });
        assert.equal(await bench.git('rev-list', '--count', `${bench.base}..${commits.sha}`), '3');
      });

      test('a conflict of a stacked pull request names the entry ahead that is to blame [C70]', async () => {
        const other = await bench.open('In the way', { files: { 'a.txt': lines({ 5: 'other' }) } });
        const lower = await bench.open('Lower', { files: { 'a.txt': lines({ 20: 'lower' }) } });
        const { number } = await bench.world.openPullRequest('main', { files: { 'c.txt': 'c' } });
        const headSha = await bench.world.commitTo(`refs/pull/${number}/head`, lower.headSha, {
          files: { 'a.txt': lines({ 5: 'upper', 20: 'upper' }) },
        });
        const upper = { prNumber: number, headSha, title: 'Upper', author: 'Ada', below: [lower.headSha] };
        const answer = await bench.world.forge.buildCandidate(bench.request([other, lower, upper]));
        assert.deepEqual(answer, {
          ...{ kind: 'conflict', prNumber: number, culprit: other.prNumber },
          files: ['a.txt'],
        });
      });

      test('a squash has one parent, the title, the author of the head and the others as trailers [C42]', async () => {
        const [one, two] = await bench.openTwoOnOneFile();
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
        const [one, two] = await bench.openTwoOnOneFile();
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
        for (const mergeMethod of METHODS) {
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
        for (const mergeMethod of METHODS) {
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
  });
}

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { commitChange, fastImport, runGit } from '../../contract/plain-repository.ts';
import { initBare } from './bare-template.ts';
import { ancestorsOf, findBase, lendCommit, listBetween, mergeCommits } from './commit-files.ts';
import { AskGit } from './object-files.ts';
import { parseRevision, readRef, readRefs, writeRefFiles } from './ref-files.ts';
import { changeTree } from './tree-files.ts';

describe('a bare repository as files', () => {
  let folder: string;
  let gitDir: string;
  let count = 0;
  const git = (...args: readonly string[]) => runGit(gitDir, args);
  const commit = (ref: string, from: string | undefined, files: Readonly<Record<string, string>>) =>
    commitChange(gitDir, ref, from, { files });

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-git-files-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));
  beforeEach(() => {
    count += 1;
    gitDir = join(folder, `${count}.git`);
    initBare(gitDir, ['--initial-branch=main']);
  });

  for (const format of ['sha1', 'sha256']) {
    it(`makes the commits that git makes, named by ${format}`, async () => {
      gitDir = join(folder, `${format}.git`);
      initBare(gitDir, [`--object-format=${format}`]);
      const changes = [
        { files: { 'a.txt': 'a\n', 'a/b': '', 'a.b/c/d': 'd\n', 'a-b': 'x' }, message: 'Begin\n\nBecause.\n' },
        { files: { 'a/b/c': 'c\n', ümlaut: 'ü\n' }, author: 'Grace', email: 'grace@example.test' },
        { message: Buffer.from([0x47, 0xfc, 0x0a]), encoding: 'ISO-8859-1' },
      ];
      let tip: string | undefined;
      for (const change of changes) {
        const sha: string = await commitChange(gitDir, 'refs/heads/ours', tip, change);
        await runGit(gitDir, ['fast-import', '--quiet', '--force'], fastImport('refs/heads/gits', tip, change));
        assert.equal(sha, await git('rev-parse', 'refs/heads/gits'));
        tip = sha;
      }
      await git('fsck', '--strict');
    });
  }

  it('takes files out, and folders that are empty then', () => {
    const full = changeTree(gitDir, undefined, { a: 'a', 'b/c/d': 'd', 'b/e': 'e' });
    assert.equal(changeTree(gitDir, full, { 'b/c/d': null, 'b/e': null }), changeTree(gitDir, undefined, { a: 'a' }));
    assert.equal(changeTree(gitDir, full, { a: null, 'b/c/d': null, 'b/e': null }), undefined);
  });

  it('reads refs wherever git keeps them', async () => {
    const sha = await commit('refs/heads/main', undefined, { a: 'a' });
    await git('update-ref', 'refs/heads/b', sha);
    await git('pack-refs', '--all');
    const next = await commit('refs/heads/b', sha, { a: 'b' });
    const listed = (await git('for-each-ref', '--format=%(refname) %(objectname)')).split('\n');
    assert.deepEqual(
      [...readRefs(gitDir)].map((pair) => pair.join(' ')),
      listed,
    );
    assert.deepEqual([readRef(gitDir, 'refs/heads/main'), readRef(gitDir, 'refs/heads/b')], [sha, next]);
    for (const name of ['main', 'refs/heads/b', sha, 'main^{tree}', `${next}^{tree}`])
      assert.equal(parseRevision(gitDir, name), await git('rev-parse', name));
    assert.throws(() => parseRevision(gitDir, 'main~1'), AskGit);
  });

  it('leaves to git the refs that are not as expected, locked, or in the way', async () => {
    const sha = await commit('refs/heads/main', undefined, { a: 'a' });
    writeRefFiles(gitDir, [{ ref: 'refs/heads/b/c', after: sha, before: null }]);
    const refused = [
      { ref: 'refs/heads/main', after: sha, before: null },
      { ref: 'refs/heads/main', after: sha, before: '0'.repeat(40) },
      { ref: 'refs/heads/b', after: sha },
      { ref: 'refs/heads/main/c', after: sha },
      { ref: 'refs/heads/a..b', after: sha },
      { ref: 'refs/heads/a.lock', after: sha },
    ];
    for (const write of refused) assert.throws(() => writeRefFiles(gitDir, [write]), AskGit, write.ref);
    writeRefFiles(gitDir, [{ ref: 'refs/heads/b/c', after: undefined, before: sha }]);
    writeRefFiles(gitDir, [{ ref: 'refs/heads/b', after: sha }]);
    assert.equal(await git('for-each-ref', '--format=%(refname)'), 'refs/heads/b\nrefs/heads/main');
  });

  it('finds bases, merges and commits between two as git does', async () => {
    const base = await commit('refs/heads/main', undefined, { a: 'a\n', b: 'b\n', 'c/d': 'd\n' });
    const ours = await commit('refs/heads/ours', base, { a: 'ours\n', 'c/e': 'e\n' });
    const first = await commit('refs/heads/theirs', base, { b: 'theirs\n' });
    const theirs = await commit('refs/heads/theirs', first, { f: 'f\n', 'c/d': 'd2\n' });
    assert.equal(findBase(gitDir, ours, theirs), base);
    assert.equal(mergeCommits(gitDir, ours, theirs), await git('merge-tree', '--write-tree', ours, theirs));
    assert.deepEqual(listBetween(gitDir, ours, theirs), [theirs, first]);
    assert.deepEqual([...ancestorsOf(gitDir, theirs)], [theirs, first, base]);
    const other = await commit('refs/heads/other', undefined, { a: 'a\n' });
    assert.equal(findBase(gitDir, ours, other), undefined);
  });

  it('leaves to git what needs a closer look in a merge', async () => {
    const base = await commit('refs/heads/main', undefined, { a: 'a\n', b: 'b\n' });
    const ours = await commit('refs/heads/ours', base, { a: 'ours\n' });
    const clash = await commit('refs/heads/clash', base, { a: 'theirs\n' });
    assert.throws(() => mergeCommits(gitDir, ours, clash), AskGit);
    const tree = changeTree(gitDir, await git('rev-parse', `${base}^{tree}`), { b: null }) ?? '';
    const without = await git('commit-tree', '-m', 'Remove b', '-p', base, tree);
    assert.throws(() => mergeCommits(gitDir, ours, without), AskGit);
  });

  it('lends another repository a commit with all that is behind it', async () => {
    const base = await commit('refs/heads/main', undefined, { a: 'a\n', 'b/c': 'c\n' });
    const tip = await commit('refs/heads/main', base, { 'b/d': 'd\n' });
    const other = join(folder, 'other.git');
    initBare(other, ['--initial-branch=main']);
    lendCommit(gitDir, other, tip);
    writeRefFiles(other, [{ ref: 'refs/heads/main', after: tip }]);
    await runGit(other, ['fsck', '--strict']);
    assert.equal(await runGit(other, ['rev-list', '--count', 'main']), '2');
  });

  it('packed objects are left to git', async () => {
    const sha = await commit('refs/heads/main', undefined, { a: 'a\n' });
    await git('repack', '-adq');
    assert.throws(() => ancestorsOf(gitDir, sha), AskGit);
    const next = await commit('refs/heads/main', sha, { b: 'b\n' });
    assert.equal(await git('rev-parse', 'main~1'), sha);
    assert.equal(await git('rev-parse', 'main'), next);
  });
});

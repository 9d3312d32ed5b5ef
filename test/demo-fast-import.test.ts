import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fastImport, setHead } from '../examples/demo/plain/fast-import.ts';
import { initBare } from '../src/git/git-dir.ts';

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-import-'));
});
after(() => rm(folder, { recursive: true, force: true }));

const BEGIN = {
  ref: 'refs/heads/trunk',
  author: 'Ada <ada@example.com>',
  at: 1_767_603_600,
  message: 'Begin: ä\n\nBody\n',
  files: { 'a.txt': 'ü\n\ndata 3\n', 'b/c.txt': '' },
};
const CHANGE = { ...BEGIN, ref: 'refs/pull/7/head', parent: 0, message: 'Change\n', files: { 'b/c.txt': 'c' } };

async function importInto(name: string): Promise<(...args: string[]) => string> {
  const gitDir = join(folder, name);
  await initBare(gitDir, 'sha1');
  await fastImport(gitDir, [BEGIN, CHANGE]);
  await setHead(gitDir, 'trunk');
  return (...args) => execFileSync('git', ['--git-dir', gitDir, ...args], { encoding: 'utf8' });
}

test('a history is written as told', async () => {
  const git = await importInto('one.git');
  assert.equal(
    git('log', '-1', '--format=%an %ae %at %cn%n%B', 'trunk').trim(),
    'Ada ada@example.com 1767603600 Ada\nBegin: ä\n\nBody',
  );
  assert.equal(git('show', 'trunk:a.txt'), 'ü\n\ndata 3\n');
  assert.equal(git('show', 'trunk:b/c.txt'), '');
  assert.equal(git('rev-parse', 'refs/pull/7/head^'), git('rev-parse', 'trunk'));
  assert.equal(git('diff', '--name-only', 'trunk', 'refs/pull/7/head'), 'b/c.txt\n');
  assert.equal(git('symbolic-ref', 'HEAD'), 'refs/heads/trunk\n');
});

test('the same history gives the same commits', async () => {
  const [one, other] = [await importInto('two.git'), await importInto('three.git')];
  assert.equal(one('for-each-ref'), other('for-each-ref'));
});

test('a stream that git refuses is a fault', async () => {
  const gitDir = join(folder, 'four.git');
  await initBare(gitDir, 'sha1');
  const broken = fastImport(gitDir, [{ ...BEGIN, author: 'nobody' }]);
  await assert.rejects(broken, /FORGE_UNAVAILABLE: Git could not write a history: /);
});

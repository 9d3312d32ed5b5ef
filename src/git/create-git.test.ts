import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PlainWorld } from '../../test/contract/plain-repository.ts';
import { createPlainWorld, hasEnded } from '../../test/contract/plain-repository.ts';
import { AssertionError } from '../lib/assert.ts';
import { Fault } from '../lib/fault.ts';
import type { Sha } from '../lib/sha.ts';
import { createGit, type GitOptions, getGitVersion, isAtLeast } from './create-git.ts';

/** Resolved before a test changes PATH. */
const GIT =
  (process.env['PATH'] ?? '')
    .split(':')
    .map((folder) => join(folder, 'git'))
    .find((file) => existsSync(file)) ?? '';

describe('kept git processes', () => {
  let world: PlainWorld;
  let main: Sha;
  const opened: ReturnType<typeof createGit>[] = [];

  beforeEach(async () => {
    world = await createPlainWorld();
    main = await world.commit('main', { files: { a: 'a\n' } });
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((git) => git.close()));
    await world.close();
  });

  async function open(options: Partial<GitOptions> = {}, id = 'app') {
    const git = createGit({ directory: join(world.folder, 'kept'), ...options });
    opened.push(git);
    return { git, repository: await git.open(sourceOf(id)) };
  }

  function sourceOf(id: string) {
    return { id, location: { kind: 'path', path: world.path } } as const;
  }

  async function until(condition: () => boolean) {
    while (!condition()) await nextTurn();
  }

  test('one process serves all questions, and 200 at once', async () => {
    const { git, repository } = await open();
    const commits = await Promise.all(Array.from({ length: 200 }, () => repository.findCommit('refs/heads/main')));
    assert.ok(commits.every((commit) => commit?.sha === main));
    assert.equal(git.pool.pids.length, 1);
  });

  test('a killed process is replaced, without losing a question', async () => {
    const { git, repository } = await open();
    const pull = await world.commitTo('refs/pull/1/head', main, { files: { b: 'b\n' } });
    for (let round = 0; round < 3; round += 1) {
      const head = await world.commitTo('refs/pull/2/head', main, { files: { c: `${round}\n` } });
      assert.equal((await repository.testMerge({ target: main, head })).kind, 'clean');
      const questions = Array.from({ length: 20 }, () => repository.findCommit('refs/pull/1/head'));
      const merges = [repository.testMerge({ target: pull, head }), repository.testMerge({ target: head, head: pull })];
      for (const pid of git.pool.pids) process.kill(pid, 'SIGKILL');
      for (const question of questions) assert.equal((await question)?.sha, pull);
      for (const merge of merges) assert.equal((await merge).kind, 'clean');
    }
  });

  test('a process that was killed while idle is replaced', async () => {
    const { git, repository } = await open();
    await repository.findCommit('refs/heads/main');
    for (const pid of git.pool.pids) process.kill(pid, 'SIGKILL');
    await until(() => git.pool.pids.length === 0);
    assert.equal((await repository.findCommit('refs/heads/main'))?.sha, main);
  });

  test('an idle process ends, and the next question starts another', async () => {
    const { git, repository } = await open({ idleMs: 1 });
    assert.equal((await repository.findCommit('refs/heads/main'))?.sha, main);
    await until(() => git.pool.pids.length === 0);
    assert.equal((await repository.findCommit('refs/heads/main'))?.sha, main);
  });

  test('no more processes are kept than allowed', async () => {
    const { git } = await open({ maxProcesses: 2 });
    for (const id of ['r1', 'r2', 'r3', 'r4', 'r1']) {
      const repository = await git.open(sourceOf(id));
      assert.equal((await repository.findCommit('refs/heads/main'))?.sha, main);
    }
    await until(() => git.pool.pids.length <= 2);
  });

  test('a process is replaced after enough answers, under load too', async () => {
    const { git, repository } = await open({ answersPerProcess: 10 });
    await repository.findCommit('refs/heads/main');
    const [first] = git.pool.pids;
    for (let round = 0; round < 3; round += 1) {
      const commits = await Promise.all(Array.from({ length: 50 }, () => repository.findCommit('refs/heads/main')));
      assert.ok(commits.every((commit) => commit?.sha === main));
    }
    assert.ok(first !== undefined && !git.pool.pids.includes(first));
  });

  test('the trees of test merges do not pile up on the disk', async () => {
    const { git, repository } = await open();
    const change = (index: number) =>
      world.commitTo(`refs/pull/${100 + index}/head`, main, { files: { [`${index}`]: 'g\n' } });
    const heads = await Promise.all(Array.from({ length: 34 }, (_, index) => change(index)));
    const [first, ...pairs] = heads.flatMap((target) => heads.map((head) => ({ target, head }))).slice(1);
    assert.ok(first !== undefined);
    await repository.testMerge(first);
    const before = git.pool.pids;
    for (const part of [pairs.slice(0, -1), pairs.slice(-1)]) {
      const merges = await Promise.all(part.map((pair) => repository.testMerge(pair)));
      assert.ok(merges.every(({ kind }) => kind === 'clean'));
    }
    assert.ok(before.some((pid) => !git.pool.pids.includes(pid)));
  });

  test('a process that hangs is replaced', async () => {
    const { git, repository } = await open({ answerMs: 1_000 });
    await repository.findCommit('refs/heads/main');
    for (const pid of git.pool.pids) process.kill(pid, 'SIGSTOP');
    assert.equal((await repository.findCommit('refs/heads/main'))?.sha, main);
  });

  test('without a kept process each merge has its own', async (context) => {
    await usePath(context, (folder) => symlink(GIT, join(folder, 'git')));
    const { git, repository } = await open();
    const head = await world.commitTo('refs/pull/1/head', main, { files: { b: 'b\n' } });
    const other = await world.commitTo('refs/pull/2/head', main, { files: { b: 'c\n' } });
    const unrelated = await world.commitTo('refs/pull/3/head', undefined, { files: { b: 'c\n' } });
    const merge = await repository.testMerge({ target: main, head });
    assert.equal(merge.kind === 'clean' && merge.tree, (await repository.findCommit('refs/pull/1/head'))?.tree);
    assert.equal((await repository.testMerge({ target: other, head })).kind, 'conflict');
    assert.equal((await repository.testMerge({ target: unrelated, head })).kind, 'unrelated');
    const version = await getGitVersion();
    assert.equal(git.pool.pids.length, isAtLeast(version, { major: 2, minor: 49 }) ? 2 : 1);
  });

  test('a git that is missing or too old is told, and found once it is there', async (context) => {
    const folder = await usePath(context, async () => undefined);
    const git = createGit({ directory: join(world.folder, 'kept') });
    opened.push(git);
    await assert.rejects(git.open(sourceOf('app')), isUnsupported);
    assert.match((await git.findProblem(sourceOf('app'))) ?? '', /not installed/);
    await writeFile(join(folder, 'git'), '#!/bin/sh\necho git version 2.30.1\n', { mode: 0o755 });
    await assert.rejects(git.open(sourceOf('app')), isUnsupported);
    await rm(join(folder, 'git'));
    await symlink(GIT, join(folder, 'git'));
    assert.equal((await (await git.open(sourceOf('app'))).findCommit('refs/heads/main'))?.sha, main);
  });

  async function usePath(context: TestContext, fill: (folder: string) => Promise<void>): Promise<string> {
    const folder = join(world.folder, 'bin');
    const path = process.env['PATH'] ?? '';
    await mkdir(folder);
    await fill(folder);
    context.after(() => {
      process.env['PATH'] = path;
    });
    process.env['PATH'] = folder;
    return folder;
  }

  test('a question of two lines is a bug', async () => {
    const { repository } = await open();
    await assert.rejects(repository.findCommit('refs/heads/main\nrefs/heads/main'), AssertionError);
    await assert.rejects(repository.findCommit('refs/heads/main\0'), AssertionError);
  });

  test('after close nothing is left, and nothing more is answered', async () => {
    const { git, repository } = await open();
    await repository.findCommit('refs/heads/main');
    const head = await world.commitTo('refs/pull/1/head', main, { files: { b: 'b\n' } });
    await repository.testMerge({ target: main, head });
    const pids = git.pool.pids;
    assert.equal(pids.length, 2);
    const pending = repository.findCommit('refs/heads/main');
    const closed = git.close();
    await assert.rejects(pending, isShuttingDown);
    await closed;
    for (const pid of pids) assert.throws(() => process.kill(pid, 0));
    await assert.rejects(repository.findCommit('refs/heads/main'), isShuttingDown);
  });

  test('test merges leave nothing behind, in neither repository', async () => {
    const { git, repository } = await open();
    const head = await world.commitTo('refs/pull/1/head', main, { files: { b: 'b\n' } });
    const target = await world.commit('main', { files: { c: 'c\n' } });
    const before = await world.git(['count-objects', '-v']);
    const merge = await repository.testMerge({ target, head });
    assert.equal(merge.kind, 'clean');
    assert.equal(await world.git(['count-objects', '-v']), before);
    await git.close();
    const mirror = join(world.folder, 'kept', 'app.git');
    const { repository: again } = await open();
    await again.findCommit('refs/heads/main');
    assert.deepEqual(
      (await readdir(mirror)).filter((name) => name.startsWith('scratch-')),
      [],
    );
    assert.equal(/count: (\d+)/.exec(await world.git(['--git-dir', mirror, 'count-objects', '-v']))?.[1], '0');
  });

  test('processes neither keep the server alive nor outlive it', async () => {
    const head = await world.commitTo('refs/pull/1/head', main, { files: { b: 'b\n' } });
    const script = `
      import { createGit } from ${JSON.stringify(new URL('./create-git.ts', import.meta.url).href)};
      const git = createGit({ directory: ${JSON.stringify(join(world.folder, 'other'))} });
      const repository = await git.open(${JSON.stringify(sourceOf('app'))});
      await repository.findCommit('refs/heads/main');
      await repository.testMerge(${JSON.stringify({ target: main, head })});
      console.log(git.pool.pids.join(' '));
      if (process.argv[1] === 'killed') process.kill(process.pid, 'SIGKILL');
    `;
    for (const way of ['exits', 'killed']) {
      const child = spawn(process.execPath, ['--input-type=module', '--eval', script, way], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [[output]] = await Promise.all([once(child.stdout, 'data'), once(child, 'exit')]);
      const pids = String(output).trim().split(' ').map(Number);
      assert.equal(pids.length, 2);
      await until(() => pids.every(hasEnded));
    }
  });
});

function isUnsupported(error: unknown): boolean {
  return error instanceof Fault && error.code === 'GIT_UNSUPPORTED';
}

function isShuttingDown(error: unknown): boolean {
  return error instanceof Fault && error.code === 'SHUTTING_DOWN';
}

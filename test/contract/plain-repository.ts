import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import type { PrNumber } from '../../src/engine/model/pull-request.ts';
import type { ForgeRepository } from '../../src/forge/forge.ts';
import type { PlainForge, PlainForgeOptions } from '../../src/forge/plain/plain-forge.ts';
import { createPlainForge } from '../../src/forge/plain/plain-forge.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { initBare } from '../fake/git-files/bare-template.ts';
import { treeOf, writeCommit } from '../fake/git-files/commit-files.ts';
import { AskGit, orGit } from '../fake/git-files/object-files.ts';
import { parseRevision, readRef, writeRefFiles } from '../fake/git-files/ref-files.ts';
import { changeTree } from '../fake/git-files/tree-files.ts';
import type { Change, GitWorld } from './forge.ts';

/** Of the start, since tests of the forge change theirs. */
const PATH = process.env['PATH'] ?? '';

/** A bare repository in a temporary folder, and a forge that reads it. */
export interface PlainWorld extends GitWorld {
  readonly forge: PlainForge;
  createForge(options?: Partial<PlainForgeOptions>): PlainForge;
}

export async function createPlainWorld(initArgs: readonly string[] = []): Promise<PlainWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-plain-'));
  const path = join(folder, 'app.git');
  initBare(path, ['--initial-branch=main', ...initArgs]);
  const git = (args: readonly string[], input?: string | Buffer) =>
    orGit(
      () => parseRevisionArgs(path, args),
      () => runGit(path, args, input),
    );
  const repository: ForgeRepository = { id: 'app', host: 'local', owner: 'acme', name: 'app', git: path, checks: [] };
  const createForge = (options: Partial<PlainForgeOptions> = {}) =>
    createPlainForge({ directory: join(folder, 'mirrors'), ...options });
  const forge = createForge();
  let lastNumber = 0;

  const commitTo = (ref: string, from: string | undefined, change: Change) => commitChange(path, ref, from, change);

  return {
    forge,
    repository,
    folder,
    path,
    git,
    commitTo,
    createForge,
    commit: async (branch, change) => {
      const ref = `refs/heads/${branch}`;
      const askGit = async () => (await git(['for-each-ref', '--format=%(objectname)', ref])) || undefined;
      return commitTo(ref, await orGit(() => readRef(path, ref), askGit), change);
    },
    openPullRequest: async (branch, change) => {
      lastNumber += 1;
      const headSha = await commitTo(
        `refs/pull/${lastNumber}/head`,
        await git(['rev-parse', `refs/heads/${branch}`]),
        change,
      );
      return { number: lastNumber as PrNumber, headSha };
    },
    pushToPullRequest: async (number, change) => {
      const ref = `refs/pull/${number}/head`;
      return commitTo(ref, await git(['rev-parse', ref]), change);
    },
    pushFromClone: async (number, clone) =>
      void (await runGit(clone, ['push', '--quiet', path, `HEAD:refs/pull/${number}/head`])),
    closePullRequest: async (number) => void (await git(['update-ref', '-d', `refs/pull/${number}/head`])),
    landPullRequest: async (number, branch) =>
      void (await git(['update-ref', `refs/heads/${branch}`, `refs/pull/${number}/head`])),
    createBranch: async (branch, sha) => void (await git(['update-ref', `refs/heads/${branch}`, sha])),
    deleteBranch: async (branch) => void (await git(['update-ref', '-d', `refs/heads/${branch}`])),
    breakRepository: async () => {
      const aside = join(folder, 'moved.git');
      await rename(path, aside);
      return () => rename(aside, path);
    },
    close: async () => {
      await forge.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A commit with these files, on top of another or of nothing, and the ref at it. */
export async function commitChange(
  gitDir: string,
  ref: string,
  from: string | undefined,
  change: Change,
): Promise<Sha> {
  const askGit = async () => {
    await runGit(gitDir, ['fast-import', '--quiet', '--force'], fastImport(ref, from, change));
    return runGit(gitDir, ['rev-parse', ref]);
  };
  return (await orGit(() => commitByFiles(gitDir, ref, from, change), askGit)) as Sha;
}

function commitByFiles(gitDir: string, ref: string, from: string | undefined, change: Change): string {
  const person = personOf(change);
  const sha = writeCommit(gitDir, {
    tree: changeTree(gitDir, treeOf(gitDir, from), change.files ?? {}) ?? treeOf(gitDir, undefined),
    parents: from === undefined ? [] : [from],
    author: person,
    committer: person,
    message: Buffer.from(change.message ?? MESSAGE),
    encoding: change.encoding,
  });
  writeRefFiles(gitDir, [{ ref, after: sha }]);
  return sha;
}

const MESSAGE = 'Change something';

function personOf({ author = 'Ada', email = 'ada@example.test' }: Change): string {
  return `${author} <${email}> 1700000000 +0000`;
}

/** `git rev-parse` of one name. */
export function parseRevisionArgs(gitDir: string, args: readonly string[]): string {
  const [command, name = '', ...others] = args;
  if (command !== 'rev-parse' || others.length > 0) throw new AskGit('another command');
  return parseRevision(gitDir, name);
}

export function fastImport(ref: string, from: string | undefined, change: Change): Buffer {
  const message = Buffer.from(change.message ?? MESSAGE);
  const author = personOf(change);
  const parts: (string | Buffer)[] = [`commit ${ref}\nauthor ${author}\ncommitter ${author}\n`];
  if (change.encoding !== undefined) parts.push(`encoding ${change.encoding}\n`);
  parts.push(`data ${message.length}\n`, message, '\n');
  if (from !== undefined) parts.push(`from ${from}\n`);
  for (const [name, content] of Object.entries(change.files ?? {})) {
    parts.push(`M 100644 inline ${name}\ndata ${Buffer.byteLength(content)}\n${content}\n`);
  }
  return Buffer.concat(parts.map((part) => Buffer.from(part)));
}

export async function runGit(cwd: string, args: readonly string[], input: string | Buffer = ''): Promise<string> {
  const env = { PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' };
  const child = spawn(
    'git',
    ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.test', '-c', 'safe.directory=*', ...args],
    { cwd, env },
  );
  child.stdin.on('error', () => undefined).end(input);
  const [output, complaint, [code]] = await Promise.all([
    buffer(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  if (code !== 0) throw new Error(`git ${args.join(' ')} failed: ${complaint}`);
  return output.toString().trim();
}

/** The same world, whose every hook runs and lets everything pass. */
export async function createHookedWorld(initArgs: readonly string[] = []): Promise<PlainWorld> {
  const world = await createPlainWorld(initArgs);
  for (const name of ['pre-receive', 'update', 'post-receive', 'post-update', 'reference-transaction']) {
    await writeHook(world, name, 'true');
  }
  return { ...world, repository: { ...world.repository, runHooks: true } };
}

/** Shell commands as a hook of the world's repository. */
export async function writeHook({ path }: Pick<GitWorld, 'path'>, name: string, script: string): Promise<void> {
  const file = join(path, 'hooks', name);
  await rm(file, { force: true });
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
}

/** The same world, reached over ssh: what the forge reads is a copy, and what it writes is pushed. */
export async function createRemoteWorld(): Promise<PlainWorld> {
  const world = await createPlainWorld();
  const cleanups: (() => void)[] = [];
  await useFakeSsh({ after: (cleanup) => cleanups.push(cleanup) }, world.folder);
  const close = async () => {
    await world.close();
    for (const cleanup of cleanups) cleanup();
  };
  return { ...world, repository: { ...world.repository, git: `git@example.test:${world.path}` }, close };
}

/** Stands in for ssh until the test is over; remotes whose path holds `silent` never say a word, and ignore SIGTERM. */
export async function useFakeSsh(context: Cleanups, folder: string): Promise<FakeSsh> {
  const [script, pids] = [join(folder, 'fake-ssh'), join(folder, 'fake-ssh-pids')];
  const hang = `trap '' TERM; echo $$ >> ${pids}; sh -c 'echo $$ >> ${pids}; sleep 600; :'; exit 1`;
  await writeFile(script, `#!/bin/sh\nfor last; do :; done\ncase "$last" in *silent*) ${hang};; esac\neval "$last"\n`, {
    mode: 0o755,
  });
  const before = process.env['GIT_SSH_COMMAND'];
  context.after(() => {
    if (before === undefined) delete process.env['GIT_SSH_COMMAND'];
    else process.env['GIT_SSH_COMMAND'] = before;
  });
  process.env['GIT_SSH_COMMAND'] = script;
  const listHanging = async () =>
    (await readFile(pids, 'utf8').catch(() => ''))
      .split('\n')
      .filter((line) => line !== '')
      .map(Number);
  return { listHanging };
}

/** A test, or whatever else ends and cleans up. */
interface Cleanups {
  after(cleanup: () => void): void;
}

export interface FakeSsh {
  /** The processes that ever hung, two for each connection. */
  listHanging(): Promise<readonly number[]>;
}

/** A process nobody waits for any more may linger as a name without a program. */
export function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform === 'linux' && / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}

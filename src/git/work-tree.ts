import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../lib/fault.ts';
import type { Sha } from '../lib/sha.ts';
import { gitFault, runGit } from './exec.ts';
import type { WorkTreeRequest } from './git.ts';
import type { Mirror } from './mirror.ts';

interface WorkTreeSource {
  readonly mirror: Mirror;
  /** The folder of the objects that the mirror itself lacks. */
  readonly objectsDir: string;
}

const TIMEOUT_MS = 30 * 60_000;
const MAX_BYTES = 512 * 1024 * 1024;

/** Objects are borrowed, so that only the files are copied. */
// SPEC R3
export async function checkOut(source: WorkTreeSource, request: WorkTreeRequest): Promise<string | undefined> {
  try {
    await createRepository(source, request);
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new Fault('FORGE_UNAVAILABLE', `A work tree could not be made (${code}).`, { cause });
  }
  if (request.isIsolated) await copyCommit(source, request);
  return fill(request);
}

/** Path names in a commit that git or the file system refuses. */
const IMPOSSIBLE = /^error: (?:invalid path .*|unable to create .*: File name too long)$/m;

// SPEC R22
async function fill(request: WorkTreeRequest): Promise<string | undefined> {
  const what = { purpose: 'fill a work tree', gitDir: gitDirOf(request) };
  const { exitCode, stderr } = await runGit(['read-tree', '--reset', '-u', '--end-of-options', request.sha], {
    ...what,
    extra: { GIT_WORK_TREE: request.folder },
    timeoutMs: TIMEOUT_MS,
    expected: [0, 128],
  });
  if (exitCode === 0) return undefined;
  const [impossible] = IMPOSSIBLE.exec(stderr) ?? [];
  if (impossible === undefined) throw gitFault(what, stderr);
  return gitFault(what, impossible.replace(/(\S{40})\S{40,}/, '$1...')).detail;
}

function gitDirOf({ folder }: WorkTreeRequest): string {
  return join(folder, '.git');
}

/** The result of `git init`, without a process. */
async function createRepository({ mirror, objectsDir }: WorkTreeSource, request: WorkTreeRequest): Promise<void> {
  const { sha, isIsolated } = request;
  const gitDir = gitDirOf(request);
  await mkdir(join(gitDir, 'refs', 'heads'), { recursive: true });
  await mkdir(join(gitDir, 'objects', 'info'), { recursive: true });
  await mkdir(join(gitDir, 'objects', 'pack'));
  const shallow = isIsolated ? `${sha}\n` : await readShallow(mirror);
  await Promise.all([
    writeFile(join(gitDir, 'HEAD'), `${sha}\n`),
    writeFile(join(gitDir, 'config'), formatConfig(sha)),
    writeFile(alternatesOf(request), alternates(mirror, objectsDir)),
    shallow === undefined ? undefined : writeFile(join(gitDir, 'shallow'), shallow),
  ]);
}

function alternatesOf(request: WorkTreeRequest): string {
  return join(gitDirOf(request), 'objects', 'info', 'alternates');
}

function alternates(mirror: Mirror, objectsDir: string): string {
  return [...new Set([objectsDir, join(mirror.gitDir, 'objects')])].map((folder) => `${folder}\n`).join('');
}

/** SHA-256 repositories have longer commit ids. */
function formatConfig(sha: Sha): string {
  const isSha256 = sha.length === 64;
  const core = `[core]\n\trepositoryformatversion = ${isSha256 ? 1 : 0}\n\tbare = false\n`;
  return isSha256 ? `${core}[extensions]\n\tobjectformat = sha256\n` : core;
}

async function readShallow({ environment }: Mirror): Promise<string | undefined> {
  const file = environment['GIT_SHALLOW_FILE'];
  return file === undefined ? undefined : readFile(file, 'utf8').catch(() => undefined);
}

async function copyCommit({ mirror }: WorkTreeSource, request: WorkTreeRequest): Promise<void> {
  const { stdout } = await runGit(['rev-list', '--objects', '--no-walk', '--end-of-options', request.sha, '--'], {
    gitDir: mirror.gitDir,
    extra: mirror.environment,
    timeoutMs: TIMEOUT_MS,
    purpose: 'read a commit',
    maxBytes: MAX_BYTES,
  });
  // Packed in the new repository: git renames the finished pack, which only works within one file system.
  const pack = join(gitDirOf(request), 'objects', 'pack', 'pack');
  const { stdout: name } = await runGit(['pack-objects', '--quiet', '--end-of-options', pack], {
    gitDir: gitDirOf(request),
    timeoutMs: TIMEOUT_MS,
    purpose: 'copy a commit',
    input: stdout,
  });
  await rm(alternatesOf(request));
  // The umask may make packs readable for git's own user only. Another user has to read this one.
  const files = ['pack', 'idx'].map((kind) => `${pack}-${name.toString('latin1').trim()}.${kind}`);
  await Promise.all(files.map((file) => chmod(file, 0o444)));
}

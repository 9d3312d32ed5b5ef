import { execFile } from 'node:child_process';
import { chmod, chown, lstat, mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Fault } from '../../lib/fault.ts';
import { killMarked } from '../../lib/marked-processes.ts';
import { readStat } from '../../lib/proc.ts';
import { succeeds } from '../../lib/succeeds.ts';
import { killProcessesOf, type UidRange, type User } from './user.ts';

/** The parent folder of this runner's jobs. */
export interface WorkFolder {
  readonly path: string;
  /** Prefix of the mark of every process that it starts. */
  readonly mark: string;
}

const OWNER_FILE = 'owner';
const OWN_NAMES = [OWNER_FILE, 'etc'];
const execute = promisify(execFile);

/** The owner cannot remove the folder itself. A process of that user may place links, so root never walks into it. */
const EMPTY = `
rm -rf -- "$1" 2>/dev/null
[ -z "$(ls -A -- "$1")" ] && exit
chmod -R u+rwx -- "$1" 2>/dev/null
rm -rf -- "$1" 2>/dev/null
exit 0`;
const EMPTY_MS = 5 * 60_000;

export async function createWorkFolder(parent: string, mark: string): Promise<WorkFolder> {
  const path = join(parent, mark);
  await mkdir(parent, { recursive: true, mode: 0o711 });
  await checkOwn(parent);
  await mkdir(path, { recursive: true, mode: 0o711 });
  // The users of commands must pass through these folders, whatever the server's umask.
  await Promise.all([chmod(parent, 0o711), chmod(path, 0o711)]);
  await writeFile(join(path, OWNER_FILE), JSON.stringify(ownerOf(process.pid)), { mode: 0o600 });
  return { path, mark };
}

/** In a world-writable parent, another user may have created the folder first. */
async function checkOwn(folder: string): Promise<void> {
  const stats = await lstat(folder);
  const isOurs = stats.isDirectory() && (process.getuid === undefined || stats.uid === process.getuid());
  if (isOurs && (stats.mode & 0o022) === 0) return;
  throw new Fault('MISCONFIGURED', `${folder} belongs to somebody else. Checks would not be safe there: remove it.`);
}

/** Removes the leftovers of crashed servers: first their processes, then their folders. */
// SPEC R7
export async function removeLeftovers(parent: string, uids: UidRange): Promise<number> {
  const names = await readdir(parent).catch(() => undefined);
  if (names === undefined) return 0;
  await checkOwn(parent);
  let removed = 0;
  for (const mark of names) {
    if (await isInUse(join(parent, mark))) continue;
    await killMarked(mark);
    await killOwners(join(parent, mark), uids);
    // An undetected process may still write there. The server starts anyway, and the next start tries again.
    if (await succeeds(removeWorkFolder(join(parent, mark)))) removed += 1;
  }
  return removed;
}

/** A check of a crashed server may have left unmarked processes. All processes of its user belong to it. */
async function killOwners(path: string, { first, last }: UidRange): Promise<void> {
  if (process.getuid?.() !== 0) return;
  for (const name of await readdir(path).catch(() => [])) {
    const stats = await lstat(join(path, name)).catch(() => undefined);
    if (stats?.isDirectory() && first <= stats.uid && stats.uid <= last) await killProcessesOf(stats);
  }
}

/** A job's folder: the commit's files, a home, temporary files, and the root of its sandbox. */
export interface JobFolder {
  readonly path: string;
  readonly tree: string;
  readonly home: string;
  readonly temporary: string;
  readonly root: string;
}

// SPEC R43
export async function createJobFolder(work: WorkFolder, name: string): Promise<JobFolder> {
  try {
    return await makeJobFolder(work, name).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      // A check that runs as the server's user may have removed the folders of all jobs.
      await createWorkFolder(dirname(work.path), work.mark);
      return makeJobFolder(work, name);
    });
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new Fault('RUNNER_UNAVAILABLE', `A folder for a check could not be made (${code}).`, { cause });
  }
}

type Four = [string, string, string, string];

async function makeJobFolder(work: WorkFolder, name: string): Promise<JobFolder> {
  const path = join(work.path, name);
  const [tree, home, temporary, root] = ['tree', 'home', 'tmp', 'root'].map((part) => join(path, part)) as Four;
  await mkdir(path, { mode: 0o700 });
  await Promise.all([tree, home, temporary, root].map((part) => mkdir(part)));
  return { path, tree, home, temporary, root };
}

/** The folder itself comes last, so that the new owner cannot change what is being walked. */
export async function giveTo({ uid, gid }: User, { path, tree, home, temporary, root }: JobFolder): Promise<void> {
  try {
    await execute('chown', ['-R', '-h', '--', `${uid}:${gid}`, tree, home, temporary, root]);
    await chown(path, uid, gid);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new Fault('RUNNER_UNAVAILABLE', `A folder could not be given to the user of checks (${code}).`, { cause });
  }
}

export async function listJobs(work: string): Promise<readonly string[]> {
  return (await readdir(work)).filter((name) => !OWN_NAMES.includes(name));
}

export async function removeWorkFolder(path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeFolder(join(path, entry.name));
  await removeFolder(path);
}

/** A command may have made folders unreadable to its own user, and dying processes may still write. */
// SPEC R20
export async function removeFolder(path: string): Promise<void> {
  const { uid, gid } = await lstat(path).catch(() => ({ uid: undefined, gid: undefined }));
  if (process.getuid?.() === 0 && uid !== undefined && uid !== 0) {
    // The user can read the environment of its processes, so it contains no secret.
    const env = { PATH: process.env['PATH'] };
    await execute('/bin/sh', ['-c', EMPTY, 'sh', path], { uid, gid, env, cwd: '/', timeout: EMPTY_MS });
    await rmdir(path);
    return;
  }
  const remove = () => rm(path, { recursive: true, force: true, maxRetries: 5 });
  try {
    await remove();
  } catch {
    await openFolders(path);
    await remove();
  }
}

async function openFolders(path: string): Promise<void> {
  await chmod(path, 0o700).catch(() => undefined);
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await openFolders(join(path, entry.name));
}

interface Owner {
  readonly pid: number;
  /** Distinguishes a process from a later one with the same pid. Empty when the system does not tell. */
  readonly startedAt: string;
}

async function isInUse(path: string): Promise<boolean> {
  const text = await readFile(join(path, OWNER_FILE), 'utf8').catch(() => undefined);
  const owner = text === undefined ? undefined : parseOwner(text);
  if (owner === undefined || !isAlive(owner.pid)) return false;
  return ownerOf(owner.pid).startedAt === owner.startedAt;
}

function parseOwner(text: string): Owner | undefined {
  try {
    const value = JSON.parse(text) as Partial<Owner> | null;
    return Number.isInteger(value?.pid) && typeof value?.startedAt === 'string' ? (value as Owner) : undefined;
  } catch {
    // The writer crashed during the write.
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function ownerOf(pid: number): Owner {
  return { pid, startedAt: readStat(pid).startedAt ?? '' };
}

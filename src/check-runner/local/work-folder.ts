import { execFile } from 'node:child_process';
import { chmod, chown, lstat, mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Fault } from '../../lib/fault.ts';
import { killMarked } from './marked-processes.ts';
import type { UidRange, User } from './user.ts';
import { killProcessesOf } from './user-processes.ts';

/** The folder in which this runner's jobs have theirs. */
export interface WorkFolder {
  readonly path: string;
  /** Begins the mark of every process it starts. */
  readonly mark: string;
}

const OWNER_FILE = 'owner';
const OWN_NAMES = [OWNER_FILE, 'etc'];
const execute = promisify(execFile);

/**
 * Run as the owner of the folder, who cannot remove the folder itself. A process of theirs that nobody found may put links
 * where root would walk: so root walks nowhere in it.
 */
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
  // Whom commands run as must get through, whatever the umask of the server takes from new folders.
  await Promise.all([chmod(parent, 0o711), chmod(path, 0o711)]);
  await writeFile(join(path, OWNER_FILE), JSON.stringify(await ownerOf(process.pid)), { mode: 0o600 });
  return { path, mark };
}

/** In a folder that everybody may write to, somebody may have been there first. */
async function checkOwn(folder: string): Promise<void> {
  const stats = await lstat(folder);
  const isOurs = stats.isDirectory() && (process.getuid === undefined || stats.uid === process.getuid());
  if (isOurs && (stats.mode & 0o022) === 0) return;
  throw new Fault('MISCONFIGURED', `${folder} belongs to somebody else. Checks would not be safe there: remove it.`);
}

/** What a server that died has left behind: its processes first, then their folders. */
export async function removeLeftovers(parent: string, uids: UidRange): Promise<number> {
  const names = await readdir(parent).catch(() => undefined);
  if (names === undefined) return 0;
  await checkOwn(parent);
  let removed = 0;
  for (const mark of names) {
    if (await isInUse(join(parent, mark))) continue;
    await killMarked(mark);
    await killOwners(join(parent, mark), uids);
    // Somebody who hid from us may still be writing there: that keeps no server from starting, and the next one tries again.
    const isRemoved = await removeWorkFolder(join(parent, mark)).then(
      () => true,
      () => false,
    );
    if (isRemoved) removed += 1;
  }
  return removed;
}

/** A check of a dead server may have left processes without a mark: all that its user has are its. */
async function killOwners(path: string, { first, last }: UidRange): Promise<void> {
  if (process.getuid?.() !== 0) return;
  for (const name of await readdir(path).catch(() => [])) {
    const stats = await lstat(join(path, name)).catch(() => undefined);
    if (stats?.isDirectory() && first <= stats.uid && stats.uid <= last) await killProcessesOf(stats);
  }
}

/** A job's own folder: files of the commit, a home, a place for temporary files, and one for the root of a sandbox. */
export interface JobFolder {
  readonly path: string;
  readonly tree: string;
  readonly home: string;
  readonly temporary: string;
  readonly root: string;
}

export async function createJobFolder(work: WorkFolder, name: string): Promise<JobFolder> {
  try {
    return await makeJobFolder(work, name).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      // A check that runs as the user of the server may have removed the folders of all.
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

/** Hands everything in it over. The folder itself comes last: until then nobody can get in and change what is walked. */
export async function giveTo({ uid, gid }: User, { path, tree, home, temporary, root }: JobFolder): Promise<void> {
  try {
    await execute('chown', ['-R', '-h', '--', `${uid}:${gid}`, tree, home, temporary, root]);
    await chown(path, uid, gid);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new Fault('RUNNER_UNAVAILABLE', `A folder could not be given to the user of checks (${code}).`, { cause });
  }
}

/** Jobs that have a folder in there. */
export async function listJobs(work: string): Promise<readonly string[]> {
  return (await readdir(work)).filter((name) => !OWN_NAMES.includes(name));
}

/** The folder of a runner with those of its jobs. */
export async function removeWorkFolder(path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeFolder(join(path, entry.name));
  await removeFolder(path);
}

/** A command may have closed folders to itself, and processes that are about to end may still write. */
export async function removeFolder(path: string): Promise<void> {
  const { uid, gid } = await lstat(path).catch(() => ({ uid: undefined, gid: undefined }));
  if (process.getuid?.() === 0 && uid !== undefined && uid !== 0) {
    // They can read what their processes are given.
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
  /** Numbers of processes are used again; this is not. Empty where the system does not tell. */
  readonly startedAt: string;
}

async function isInUse(path: string): Promise<boolean> {
  const text = await readFile(join(path, OWNER_FILE), 'utf8').catch(() => undefined);
  const owner = text === undefined ? undefined : parseOwner(text);
  if (owner === undefined || !isAlive(owner.pid)) return false;
  return (await ownerOf(owner.pid)).startedAt === owner.startedAt;
}

function parseOwner(text: string): Owner | undefined {
  try {
    const value = JSON.parse(text) as Partial<Owner> | null;
    return Number.isInteger(value?.pid) && typeof value?.startedAt === 'string' ? (value as Owner) : undefined;
  } catch {
    // Its writer died while it wrote.
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

/** The 22nd field of /proc/<pid>/stat; the second may hold spaces and parentheses. */
async function ownerOf(pid: number): Promise<Owner> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { pid, startedAt: fields[19] ?? '' };
}

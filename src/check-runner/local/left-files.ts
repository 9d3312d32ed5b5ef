import { constants } from 'node:fs';
import { type FileHandle, open, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { findFiles } from '../../lib/find-files.ts';
import { type Glob, parseGlob } from '../../lib/glob.ts';
import type { LeftFile, LeftFiles } from '../runner.ts';
import type { User } from './user.ts';

/** Test results are smaller than this. The limits keep a check from filling the store. */
const MAX_FILES = 1_000;
const MAX_BYTES = 100 * 1024 * 1024;
/** They bound the search in a very large tree. */
const MAX_SEEN = 1_000_000;
const MAX_MS = 120_000;
const MAX_FOUND = 5 * MAX_FILES;
const CUT_OFF = `The work folder was not searched to its end: it holds more than ${MAX_SEEN} files or ${MAX_FOUND} reports, or it took longer than two minutes.`;
const PIECE_BYTES = 256 * 1024;
/** Bounds the wait for the file system's clock to advance. */
const TICK_TRIES = 20;
const TICK_MS = 2;

export interface LeftFilesQuery {
  readonly folder: string;
  readonly globs: readonly string[];
  /** Files of the commit are older than this. */
  readonly since: bigint;
  /** The user that the command ran as. Undefined: the server's own. */
  readonly user: User | undefined;
}

/** By the clock of the file system, which may be coarser or behind. The command cannot replace this file by a link. */
export async function markTime(file: string): Promise<bigint> {
  try {
    const first = await touch(file);
    for (let tries = 0; tries < TICK_TRIES; tries += 1) {
      await pause(TICK_MS);
      const later = await touch(file);
      if (later > first) return later;
    }
    return first;
  } finally {
    await rm(file, { force: true });
  }
}

async function touch(file: string): Promise<bigint> {
  await writeFile(file, 'x');
  return (await stat(file, { bigint: true })).mtimeNs;
}

/** No link is followed, not even one that appears meanwhile: the server may read files that the command may not. */
// SPEC R23
export async function findLeftFiles(query: LeftFilesQuery): Promise<Omit<LeftFiles, 'root'>> {
  const root = await realpath(query.folder).catch(() => undefined);
  if (root === undefined) return { files: [], problems: [] };
  const problems: string[] = [];
  const globs = query.globs.flatMap((text) => {
    const glob = parseGlob(text);
    if (typeof glob === 'string') problems.push(`The glob ${text} ${glob}.`);
    return typeof glob === 'string' ? [] : [glob];
  });
  return collect({ ...query, root, globs, problems });
}

interface Found {
  readonly name: string;
  readonly sizeBytes: number;
}

async function collect(
  of: LeftFilesFolder & { readonly globs: readonly Glob[]; readonly problems: string[] },
): Promise<Omit<LeftFiles, 'root'>> {
  const { root, globs, problems } = of;
  const found: Found[] = [];
  const endsAt = performance.now() + MAX_MS;
  let isCutOff = false;
  const isOver = (seen: number) => {
    isCutOff = seen > MAX_SEEN || performance.now() > endsAt || found.length + problems.length > MAX_FOUND;
    return isCutOff;
  };
  const skips = (folder: readonly string[]) => folder.length === 1 && folder[0] === '.git';
  for await (const name of findFiles({ root, globs, followsLinks: false, skips, isOver })) {
    const size = await measure(of, name);
    if (typeof size === 'string') problems.push(`${name} ${size}`);
    if (typeof size === 'number') found.push({ name, sizeBytes: size });
  }
  problems.sort();
  if (isCutOff) problems.push(CUT_OFF);
  return { files: limit(of, found), problems };
}

function limit(of: LeftFilesFolder & { readonly problems: string[] }, found: readonly Found[]): readonly LeftFile[] {
  const inOrder = found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  let bytes = 0;
  const end = inOrder.findIndex(({ sizeBytes }, index) => {
    bytes += sizeBytes;
    return index >= MAX_FILES || bytes > MAX_BYTES;
  });
  if (end >= 0)
    of.problems.push(`There are more than ${MAX_FILES} reports, or more than ${MAX_BYTES / 1024 / 1024} MiB of them.`);
  return inOrder
    .slice(0, end < 0 ? inOrder.length : end)
    .map((file) => ({ ...file, read: () => readPieces(of, file.name, file.sizeBytes) }));
}

type LeftFilesFolder = Pick<LeftFilesQuery, 'since' | 'user'> & { readonly root: string };

/** The file's size. Undefined when this command did not write it. A string is the problem. */
async function measure(of: LeftFilesFolder, name: string): Promise<number | string | undefined> {
  try {
    const handle = await openInside(of, name);
    if (handle === undefined) return 'is a link or no file, and was not read.';
    try {
      const { mtimeNs, size } = await handle.stat({ bigint: true });
      return mtimeNs < of.since ? undefined : Number(size);
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? undefined : `cannot be read (${code ?? 'unknown error'}).`;
  }
}

/** Undefined when it is no file, or no longer in the folder. */
async function openInside(
  { root, user }: Pick<LeftFilesFolder, 'root' | 'user'>,
  name: string,
): Promise<FileHandle | undefined> {
  const handle = await openByName({ root, user }, name).catch((error: NodeJS.ErrnoException) => {
    if (NOT_A_FILE.has(error.code ?? '')) return undefined;
    throw error;
  });
  if (handle === undefined) return undefined;
  const stats = await handle.stat();
  if (stats.isFile() && (user === undefined || stats.uid === user.uid)) return handle;
  await handle.close();
  return undefined;
}

/** Errors of `open` for links, sockets and non-folders. */
const NOT_A_FILE: ReadonlySet<string> = new Set(['ELOOP', 'ENXIO', 'ENOTDIR']);
// With O_NONBLOCK, a named pipe does not block until a writer opens it.
const FILE_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const FOLDER_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY;

async function openByName(
  { root, user }: Pick<LeftFilesFolder, 'root' | 'user'>,
  name: string,
): Promise<FileHandle | undefined> {
  if (process.platform === 'linux') return openStepwise(root, name.split('/'));
  // Other systems cannot open step by step, so a link may appear at any time. That gives nothing to a command that runs
  // as the same user.
  const path = join(root, name);
  return user === undefined && (await realpath(path)) === path ? open(path, FILE_FLAGS) : undefined;
}

/** Opens each folder relative to the one before, so no part of the path can be replaced by a link. */
async function openStepwise(root: string, parts: readonly string[]): Promise<FileHandle> {
  let place = root;
  let folder: FileHandle | undefined;
  for (const part of parts.slice(0, -1)) {
    // A path may have two thousand folders: only one is open at a time.
    const next: FileHandle = await open(join(place, part), FOLDER_FLAGS).finally(() => folder?.close());
    folder = next;
    place = `/proc/self/fd/${next.fd}`;
  }
  return open(join(place, parts.at(-1) ?? ''), FILE_FLAGS).finally(() => folder?.close());
}

/** Reads only the measured size, since a process may still append. */
async function* readPieces(of: LeftFilesFolder, name: string, size: number): AsyncGenerator<Buffer> {
  const handle = await openInside(of, name);
  if (handle === undefined) throw new TypeError(`${name} is gone`);
  try {
    for (let at = 0; at < size; ) {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.min(PIECE_BYTES, size - at)), 0, null, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

import { constants } from 'node:fs';
import { type FileHandle, open, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { join, matchesGlob } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { LeftFile, LeftFiles } from '../runner.ts';
import type { User } from './user.ts';

/** Test results are smaller than this. The limits keep a check from filling the store. */
const MAX_FILES = 1_000;
const MAX_BYTES = 100 * 1024 * 1024;
/** Bounds the search in a very large tree. */
const MAX_SEEN = 1_000_000;
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

/**
 * A timestamp by the file system's clock, later than every existing file. That clock may be coarser than the system
 * clock, or behind it. The command cannot replace this file by a link.
 */
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

/**
 * Finds the report files that the command wrote. No link is followed, not even one that appears meanwhile: an
 * undetected process may still work in the folder, and the server may read files that the command may not.
 */
// SPEC R23
export async function findLeftFiles(query: LeftFilesQuery): Promise<Omit<LeftFiles, 'root'>> {
  const root = await realpath(query.folder).catch(() => undefined);
  if (root === undefined) return { files: [], problems: [] };
  const names: string[] = [];
  const problems: string[] = [];
  const walk = new Walk(root, query.globs);
  for await (const name of walk.find()) names.push(name);
  if (walk.isCutOff)
    problems.push(`The work folder holds more than ${MAX_SEEN} files: it was not searched to its end.`);
  return collect({ ...query, root, names: names.toSorted(), problems });
}

async function collect(
  of: LeftFilesQuery & { readonly root: string; readonly names: readonly string[]; readonly problems: string[] },
): Promise<Omit<LeftFiles, 'root'>> {
  const { problems } = of;
  const files: LeftFile[] = [];
  let bytes = 0;
  for (const name of of.names) {
    const size = await measure(of, name);
    if (typeof size === 'string') problems.push(`${name} ${size}`);
    if (typeof size !== 'number') continue;
    if (files.length >= MAX_FILES || bytes + size > MAX_BYTES) {
      problems.push(`There are more than ${MAX_FILES} reports, or more than ${MAX_BYTES / 1024 / 1024} MiB of them.`);
      break;
    }
    bytes += size;
    files.push({ name, sizeBytes: size, read: () => readPieces(of, name, size) });
  }
  return { files, problems };
}

type LeftFilesFolder = LeftFilesQuery & { readonly root: string };

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
async function openStepwise(root: string, [first = '', ...rest]: readonly string[]): Promise<FileHandle> {
  const path = join(root, first);
  if (rest.length === 0) return open(path, FILE_FLAGS);
  const folder = await open(path, FOLDER_FLAGS);
  try {
    return await openStepwise(`/proc/self/fd/${folder.fd}`, rest);
  } finally {
    await folder.close();
  }
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

/** Descends only into folders that a glob can match. */
class Walk {
  readonly #root: string;
  readonly #globs: readonly string[];
  #seen = 0;
  isCutOff = false;

  constructor(root: string, globs: readonly string[]) {
    this.#root = root;
    this.#globs = globs.map((glob) => glob.replace(/^(?:\.\/+)+/, ''));
  }

  async *find(folder = ''): AsyncGenerator<string> {
    const entries = await readdir(join(this.#root, folder), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      this.#seen += 1;
      if (this.#seen > MAX_SEEN) {
        this.isCutOff = true;
        return;
      }
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (this.#mayHold(name)) yield* this.find(name);
      } else if (this.#globs.some((glob) => matchesGlob(name, glob))) yield name;
    }
  }

  /** Compares as many parts of a glob as the folder has, up to a `**`. */
  #mayHold(folder: string): boolean {
    if (folder === '.git') return false;
    const parts = folder.split('/');
    return this.#globs.some((glob) => {
      const wanted = glob.split('/');
      const open = wanted.findIndex((part) => part.includes('**') || part.includes('{'));
      const known = parts.slice(0, open === -1 ? wanted.length : open);
      if (open === -1 && wanted.length <= parts.length) return false;
      return known.every((part, index) => matchesGlob(part, wanted[index] as string));
    });
  }
}

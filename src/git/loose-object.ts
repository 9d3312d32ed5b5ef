import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  createReadStream,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createInflate, deflateSync } from 'node:zlib';
import { assert } from '../lib/assert.ts';
import { Fault } from '../lib/fault.ts';
import { Semaphore } from '../lib/semaphore.ts';
import type { Sha } from '../lib/sha.ts';
import { type Sharing, sharedFileMode, sharedFolderMode } from './shared-mode.ts';
import { syncFiles } from './sync-files.ts';

export interface ObjectStore {
  readonly objectsDir: string;
  readonly objectFormat: string;
  readonly sharing: Sharing | undefined;
}

/** Git's own level for loose objects. They are compressed better when they are packed. */
const LEVEL = 1;
/** Bounds the number of open files and parallel disk writes. */
const SETTLED_AT_ONCE = 16;

/** It appears atomically under the hash of its content: concurrent writers do not interfere. */
export async function writeLooseObject(store: ObjectStore, type: 'commit', content: Buffer): Promise<Sha> {
  const bytes = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
  const sha = nameOf(store.objectFormat, bytes);
  const file = fileOf(store, sha);
  try {
    write(store, { folder: dirname(file), file, bytes: deflateSync(bytes, { level: LEVEL }) });
  } catch (cause) {
    throw unwritable(cause);
  }
  return sha;
}

/** Throws when one is damaged. Afterwards the loose ones survive a power cut; git synced those that it packed. */
export async function settleLooseObjects(store: ObjectStore, shas: readonly Sha[]): Promise<void> {
  const slots = new Semaphore(SETTLED_AT_ONCE);
  await Promise.all(shas.map((sha) => slots.run(() => settle(store, sha))));
}

async function settle(store: ObjectStore, sha: Sha): Promise<void> {
  const file = fileOf(store, sha);
  await syncFiles([file]);
  const hash = createHash(store.objectFormat);
  try {
    await pipeline(createReadStream(file), createInflate(), hash);
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return;
    throw damaged(sha, cause);
  }
  if ((hash.read() as Buffer).toString('hex') !== sha) throw damaged(sha);
}

function damaged(sha: Sha, cause?: unknown): Fault {
  return new Fault('FORGE_UNAVAILABLE', `The repository is damaged: its object ${sha} cannot be read.`, { cause });
}

function fileOf({ objectsDir }: ObjectStore, sha: Sha): string {
  return join(objectsDir, sha.slice(0, 2), sha.slice(2));
}

function nameOf(objectFormat: string, bytes: Buffer): Sha {
  assert(objectFormat === 'sha1' || objectFormat === 'sha256', `git names objects by ${objectFormat}`);
  return createHash(objectFormat).update(bytes).digest('hex') as Sha;
}

interface NewObject {
  readonly folder: string;
  readonly file: string;
  readonly bytes: Buffer;
}

/** A trip through the thread pool would take longer. `settleLooseObjects` syncs before a branch points to it. */
function write({ sharing }: ObjectStore, { folder, file, bytes }: NewObject): void {
  // If the server is killed, `git prune` removes files with this prefix.
  const unfinished = join(folder, `tmp_obj_${randomBytes(8).toString('hex')}`);
  try {
    writeWhole(create(unfinished, { folder, sharing }), bytes);
    if (sharing !== undefined) share(unfinished, (mode) => sharedFileMode(mode, sharing));
    // An existing object has the same bytes. The rename refreshes its age, which protects it from `git prune`.
    renameSync(unfinished, file);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

function create(file: string, of: { readonly folder: string; readonly sharing: Sharing | undefined }): number {
  try {
    return openSync(file, 'wx', 0o444);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    makeFolder(of.folder, of.sharing);
    return openSync(file, 'wx', 0o444);
  }
}

function writeWhole(fd: number, bytes: Buffer): void {
  try {
    writeFileSync(fd, bytes);
  } finally {
    closeSync(fd);
  }
}

function makeFolder(folder: string, sharing: Sharing | undefined): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    throw error;
  }
  if (sharing !== undefined) share(folder, (mode) => sharedFolderMode(mode, sharing));
}

function share(path: string, modeOf: (mode: number) => number): void {
  const present = statSync(path).mode & 0o7777;
  const wanted = modeOf(present);
  if (wanted !== present) chmodSync(path, wanted);
}

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'its file system is read-only',
  EACCES: 'the user the server runs as may not write to it',
  EPERM: 'the user the server runs as may not write to it',
  ENOENT: 'its folder of objects is gone',
  ENOTDIR: 'its folder of objects is gone',
};

function unwritable(cause: unknown): Fault {
  const code = codeOf(cause);
  const problem = PROBLEMS[code] ?? `the file system reports ${code}`;
  return new Fault('FORGE_UNAVAILABLE', `The git repository cannot be written: ${problem}.`, { cause });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'no reason';
}

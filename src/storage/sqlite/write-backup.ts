import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, link, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { Fault } from '../../lib/fault.ts';
import { codeOf } from '../../lib/file-error.ts';
import type { CopyProgress } from '../store.ts';
import { logFilesOf } from './database.ts';
import { fileReasonOf, isOfPlace, toStoreError } from './errors.ts';
import { createPrivateFile, ensurePrivateFolder } from './private-files.ts';

/** Pages per step: a megabyte, a few milliseconds. Requests are served between steps. */
export const PAGES_PER_STEP = 256;

type OnProgress = (progress: CopyProgress) => void;

const NAME_TAKEN = 'there is already a file of this name';

// SPEC D5, D22
export async function writeBackup(
  live: string,
  target: string,
  onProgress?: OnProgress,
): Promise<{ readonly sizeBytes: number }> {
  const partial = `${target}.${randomUUID()}.partial`;
  try {
    ensurePrivateFolder(dirname(target));
    if (await exists(target)) throw unusable(target, NAME_TAKEN);
    createPrivateFile(partial);
    await copyLive(live, partial, onProgress);
    await sync(partial);
    const { size } = await stat(partial);
    await publish(partial, target);
    return { sizeBytes: size };
  } catch (error) {
    if (error instanceof Fault) throw error;
    const code = isOfPlace(error) ? 'BACKUP_UNUSABLE' : 'STORE_UNAVAILABLE';
    throw new Fault(code, `The backup ${target} cannot be written: ${fileReasonOf(error)}.`, { cause: error });
  } finally {
    // A leftover file is harmless, and the answer is already on its way.
    for (const file of [partial, ...logFilesOf(partial)]) await rm(file, { force: true }).catch(() => {});
  }
}

export async function exists(file: string): Promise<boolean> {
  return access(file, constants.F_OK).then(
    () => true,
    () => false,
  );
}

/**
 * Copies on its own connection inside one read transaction: it sees one state throughout, and commits that arrive
 * meanwhile neither wait for it nor make it start over.
 */
async function copyLive(live: string, partial: string, onProgress: OnProgress = () => {}): Promise<void> {
  const source = openLive(live);
  try {
    const progress = (step: { totalPages: number; remainingPages: number }) =>
      onProgress({ copiedPages: step.totalPages - step.remainingPages, totalPages: step.totalPages });
    await backup(source, partial, { rate: PAGES_PER_STEP, progress });
    source.exec('COMMIT');
  } finally {
    source.close();
  }
  // The copy is a database with a log, as its source; without the log, a backup is a single file.
  const copy = new DatabaseSync(partial);
  try {
    copy.exec('PRAGMA journal_mode = DELETE');
  } finally {
    copy.close();
  }
}

/** An error here is the store's fault, not the backup's. */
function openLive(live: string): DatabaseSync {
  let source: DatabaseSync | undefined;
  try {
    source = new DatabaseSync(live, { readOnly: true });
    source.exec('BEGIN');
    source.prepare('select count(*) from sqlite_master').get();
    return source;
  } catch (error) {
    source?.close();
    throw toStoreError(error);
  }
}

/** A link fails if the target exists, where a rename would replace it; some file systems have no links. */
async function publish(partial: string, target: string): Promise<void> {
  try {
    await link(partial, target);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw unusable(target, NAME_TAKEN, error);
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(codeOf(error))) throw error;
    if (await exists(target)) throw unusable(target, NAME_TAKEN, error);
    await rename(partial, target);
  }
  await sync(dirname(target));
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function unusable(file: string, reason: string, cause?: unknown): Fault {
  return new Fault('BACKUP_UNUSABLE', `The backup ${file} cannot be used: ${reason}.`, { cause });
}

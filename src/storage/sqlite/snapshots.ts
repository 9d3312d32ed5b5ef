import { copyFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { backup, type DatabaseSync } from 'node:sqlite';
import { exists, unusable } from '../../lib/backup-file.ts';
import { formatInstant } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import { codeOf } from '../../lib/file-error.ts';
import { closeToOthers } from '../../lib/private-files.ts';
import type { KeptToken, SnapshotStore } from '../store.ts';
import { carryToken, checkHeader, noRoom, openChecked, refuseOwnFiles } from './check-backup.ts';
import { logFilesOf } from './database.ts';
import type { SqliteEngine } from './engine.ts';
import { isOutOfRoom, toStoreError } from './errors.ts';
import { lockFilesIn } from './folder.ts';
import { renumber } from './notice-restore.ts';
import { PAGES_PER_STEP, writeBackup } from './write-backup.ts';

/** The databases that the latest restores replaced, in case a restore was a mistake. */
const KEPT_BEFORE_RESTORE = 3;
const BEFORE_RESTORE = 'before-restore-';
/** Strict, because matching files are removed: an operator may name a backup before-restore-something. */
const KEPT_NAME = /^before-restore-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z\.db(\.[0-9a-f-]{36}\.partial(-\w+)?)?$/;

export interface SnapshotOptions {
  readonly directory: string;
  readonly file: string;
  readonly engine: SqliteEngine;
  readonly afterRestore: () => Promise<void>;
}

export function createSnapshots(options: SnapshotOptions): SnapshotStore {
  // One after another: they share the file that is restored from.
  let restoring: Promise<unknown> = Promise.resolve();
  return {
    backup: (file, onProgress) => writeBackup(options.file, file, onProgress),
    restore: (file, kept) => {
      const restored = restoring.then(() => restore(options, file, kept));
      restoring = restored.catch(() => {});
      return restored;
    },
  };
}

/** The copy that is restored from comes first. The logs of another copy would be taken for its own. */
export function restoreFilesIn(directory: string): readonly [string, ...string[]] {
  return withLogs(join(directory, 'restore.db'));
}

function withLogs(file: string): readonly [string, ...string[]] {
  return [file, ...logFilesOf(file)];
}

/** Copied, checked and migrated beside the live database, and then copied over it in one SQLite transaction. */
// SPEC D5
async function restore(options: SnapshotOptions, backupFile: string, kept?: KeptToken): Promise<void> {
  const { directory, file, engine } = options;
  const ownFiles = restoreFilesIn(directory);
  const [copy] = ownFiles;
  await refuseOwnFiles(backupFile, [...withLogs(file), ...lockFilesIn(directory).flatMap(withLogs), ...ownFiles]);
  await checkHeader(backupFile);
  try {
    await copyBackup(backupFile, copy);
    const source = await openChecked(copy, { file, backupFile });
    try {
      if (kept !== undefined) await carryToken(source, kept);
      renumber(source);
      await engine.holdWrites(() => replace(options, source));
    } finally {
      source.close();
    }
  } finally {
    for (const own of ownFiles) await rm(own, { force: true });
  }
  await options.afterRestore();
}

async function copyBackup(backupFile: string, copy: string): Promise<void> {
  try {
    await copyFile(backupFile, copy);
    closeToOthers(copy);
  } catch (error) {
    if (isOutOfRoom(error)) throw noRoom(backupFile, error);
    throw unusable(backupFile, `it cannot be copied into the data folder (${codeOf(error)})`, error);
  }
}

/** Writes are held, so that the kept copy has every acknowledged commit. */
async function replace({ directory, file }: SnapshotOptions, source: DatabaseSync): Promise<void> {
  const folder = join(directory, 'backups');
  const kept = await keepPresent(file, folder);
  try {
    await backup(source, file, { rate: PAGES_PER_STEP });
  } catch (error) {
    // Nothing was replaced, so there is nothing to keep.
    await rm(kept, { force: true }).catch(() => {});
    throw toStoreError(error);
  }
  // The restore is done. A file that cannot be removed now is removed after the next one.
  await removeOldest(folder).catch(() => {});
}

async function keepPresent(live: string, folder: string): Promise<string> {
  const named = (instant: number) => join(folder, `${BEFORE_RESTORE}${formatInstant(instant).replaceAll(':', '-')}.db`);
  let instant = Date.now();
  while (await exists(named(instant))) instant += 1;
  try {
    await writeBackup(live, named(instant));
    return named(instant);
  } catch (error) {
    const reason = error instanceof Fault ? error.detail : String(error);
    const sentence = `Nothing was restored, because what is there now cannot be kept: ${reason}`;
    throw new Fault('STORE_UNAVAILABLE', sentence, { cause: error });
  }
}

/** Also removes unfinished files of a killed server: restores run one after another, so none is being written. */
async function removeOldest(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => KEPT_NAME.test(name)).sort();
  const finished = names.filter((name) => name.endsWith('.db'));
  const unfinished = names.filter((name) => !name.endsWith('.db'));
  for (const name of [...unfinished, ...finished.slice(0, -KEPT_BEFORE_RESTORE)]) {
    await rm(join(folder, name), { force: true });
  }
}

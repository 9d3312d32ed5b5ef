import { rm } from 'node:fs/promises';
import { backup, DatabaseSync } from 'node:sqlite';
import { writeBackupFile } from '../../lib/backup-file.ts';
import type { CopyProgress } from '../store.ts';
import { logFilesOf } from './database.ts';
import { fileReasonOf, isOfPlace, toStoreError } from './errors.ts';

/** Pages per step: a megabyte, a few milliseconds. Requests are served between steps. */
export const PAGES_PER_STEP = 256;

type OnProgress = (progress: CopyProgress) => void;

// SPEC D5
export function writeBackup(
  live: string,
  target: string,
  onProgress?: OnProgress,
): Promise<{ readonly sizeBytes: number }> {
  const write = async (partial: string) => {
    try {
      await copyLive(live, partial, onProgress);
    } finally {
      for (const file of logFilesOf(partial)) await rm(file, { force: true }).catch(() => {});
    }
  };
  return writeBackupFile(target, write, { reasonOf: fileReasonOf, isOfPlace });
}

/** Inside one read transaction of its own: commits that arrive meanwhile neither wait nor make it start over. */
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

import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Fault } from '../../lib/fault.ts';
import { ensurePrivateFile, ensurePrivateFolder } from '../../lib/private-files.ts';
import { fileReasonOf, isBusy } from './errors.ts';

export interface FolderLock {
  release(): void;
}

const SERVER_LOCK = 'lock.db';
const INGEST_LOCK = 'ingest-lock.db';
/** An ingest process notices within milliseconds that its server is gone. */
const OLD_INGEST_MS = 10_000;

/** The operating system releases it with the process, so there is never a stale lock to clean up. */
// SPEC D4, U90
export function lockFolder(directory: string): FolderLock {
  const lock = lockFile(directory, SERVER_LOCK, 0);
  try {
    // A server that was killed may have left an ingest process, which ends with its pipe.
    lockFile(directory, INGEST_LOCK, OLD_INGEST_MS).release();
    return lock;
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Held by the ingest process of the server that has the folder. */
export function lockIngest(directory: string): FolderLock {
  return lockFile(directory, INGEST_LOCK, OLD_INGEST_MS);
}

function lockFile(directory: string, name: string, timeout: number): FolderLock {
  let db: DatabaseSync | undefined;
  try {
    ensurePrivateFolder(directory);
    accessSync(directory, constants.W_OK | constants.X_OK);
    const file = join(directory, name);
    ensurePrivateFile(file);
    db = new DatabaseSync(file, { timeout });
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db?.close();
    if (isBusy(error)) {
      const user =
        name === SERVER_LOCK ? 'Another Sluice server already' : 'The ingest process of an earlier server still';
      throw new Fault('STORE_LOCKED', `${user} uses the data folder ${directory}.`, { cause: error });
    }
    throw unusable(directory, error);
  }
  const held = db;
  return {
    release: () => {
      if (held.isOpen) held.close();
    },
  };
}

export function lockFilesIn(directory: string): readonly string[] {
  return [SERVER_LOCK, INGEST_LOCK].map((name) => join(directory, name));
}

function unusable(directory: string, error: unknown): Fault {
  const sentence = `The data folder ${directory} cannot be used: ${fileReasonOf(error)}.`;
  return new Fault('STORE_UNAVAILABLE', sentence, { cause: error });
}

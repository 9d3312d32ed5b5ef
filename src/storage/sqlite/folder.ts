import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Fault } from '../../lib/fault.ts';
import { ensurePrivateFile, ensurePrivateFolder } from '../../lib/private-files.ts';
import { fileReasonOf, isBusy } from './errors.ts';

export interface FolderLock {
  release(): void;
}

/**
 * A second database serves only as a lock. The operating system releases it with the process, so there is never a stale
 * lock to clean up.
 */
// SPEC D4
export function lockFolder(directory: string): FolderLock {
  let db: DatabaseSync | undefined;
  try {
    ensurePrivateFolder(directory);
    accessSync(directory, constants.W_OK | constants.X_OK);
    const file = lockFileIn(directory);
    ensurePrivateFile(file);
    db = new DatabaseSync(file, { timeout: 0 });
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db?.close();
    if (isBusy(error)) {
      throw new Fault('STORE_LOCKED', `Another Sluice server already uses the data folder ${directory}.`, {
        cause: error,
      });
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

export function lockFileIn(directory: string): string {
  return join(directory, 'lock.db');
}

function unusable(directory: string, error: unknown): Fault {
  const sentence = `The data folder ${directory} cannot be used: ${fileReasonOf(error)}.`;
  return new Fault('STORE_UNAVAILABLE', sentence, { cause: error });
}

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Fault } from '../../lib/fault.ts';
import { isBusy, reasonOf } from './errors.ts';

export interface FolderLock {
  release(): void;
}

/**
 * A second database does nothing but hold a lock: the operating system drops it with the process, however that ends,
 * so there is never a stale one to clean up.
 */
export function lockFolder(directory: string): FolderLock {
  ensureFolder(directory);
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(join(directory, 'lock.db'), { timeout: 0 });
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

function ensureFolder(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unusable(directory, error);
  }
}

function unusable(directory: string, error: unknown): Fault {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  const reason =
    code === 'EEXIST' || code === 'ENOTDIR'
      ? 'there is a file in its place'
      : (reasonOf(error) ?? `it cannot be created or written (${code ?? String(error)})`);
  return new Fault('STORE_UNAVAILABLE', `The data folder ${directory} cannot be used: ${reason}.`, { cause: error });
}

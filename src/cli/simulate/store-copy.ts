import { copyFile, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fault } from '../../lib/fault.ts';
import { type FolderLock, lockFolder } from '../../storage/sqlite/folder.ts';
import { openSqliteStore } from '../../storage/sqlite/open-sqlite-store.ts';
import { writeBackup } from '../../storage/sqlite/write-backup.ts';
import type { Store } from '../../storage/store.ts';
import { UsageError } from './options.ts';

const DATABASE = 'sluice.db';

/** Works on a temporary copy. The data folder or backup at `place` stays unchanged. */
export async function withStoreCopy<T>(place: string, use: (store: Store) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-simulate-'));
  try {
    await copyStore(place, join(directory, DATABASE));
    const store = await openSqliteStore({ directory });
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function copyStore(place: string, copy: string): Promise<void> {
  const found = await stat(place).catch(() => undefined);
  if (found?.isFile() === true) return copyFile(place, copy);
  const database = join(place, DATABASE);
  const inside = await stat(database).catch(() => undefined);
  if (inside?.isFile() !== true) throw new UsageError(`${place} is neither a data folder nor a backup.`);
  // Held during the copy, so that no server starts meanwhile.
  const lock = lockIdle(place);
  try {
    await writeBackup(database, copy);
  } finally {
    lock.release();
  }
}

function lockIdle(folder: string): FolderLock {
  try {
    return lockFolder(folder);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'STORE_LOCKED') throw error;
    throw new UsageError(
      `A server is using ${folder}. Run \`sluice backup\` and give the file that it names: --data <file>.`,
    );
  }
}

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { sqliteDialect } from '../sql/dialect.ts';
import { migrate, type OnMigrated } from '../sql/migrations/migrate.ts';
import { createSqlParts, ensureSigningKey } from '../sql/sql-store.ts';
import { StatementCompiler } from '../sql/statement.ts';
import type { Store } from '../store.ts';
import { NO_SIGNALS } from '../waiting.ts';
import { ensureDatabase, INGESTING, openDatabase } from './database.ts';
import { SqliteEngine } from './engine.ts';
import { type FolderLock, lockFolder } from './folder.ts';
import { noticeRestore } from './notice-restore.ts';
import { createSnapshots, restoreFilesIn } from './snapshots.ts';

export interface SqliteOptions {
  readonly directory: string;
  readonly onMigrated?: OnMigrated | undefined;
}

export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const lock = lockFolder(options.directory);
  try {
    // Left over if a server was killed during a restore.
    for (const file of restoreFilesIn(options.directory)) rmSync(file, { force: true });
    return await openLocked(options, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** For the ingest process, which holds a lock of its own. */
export async function openSqliteIngestStore(options: SqliteOptions): Promise<Store> {
  const engine = new SqliteEngine(openDatabase(fileIn(options.directory), INGESTING));
  try {
    const compiler = new StatementCompiler(sqliteDialect);
    return {
      isShared: false,
      signals: NO_SIGNALS,
      ...createSqlParts(engine, compiler),
      signingKey: await ensureSigningKey(engine, compiler),
      snapshots: undefined,
      close: async () => engine.close(),
    };
  } catch (error) {
    engine.close();
    throw error;
  }
}

async function openLocked(options: SqliteOptions, lock: FolderLock): Promise<Store> {
  const { directory } = options;
  const file = fileIn(directory);
  ensureDatabase(file);
  await noticeRestore(file);
  const engine = new SqliteEngine(openDatabase(file));
  try {
    const compiler = new StatementCompiler(sqliteDialect);
    await migrate(engine, compiler, options);
    let signingKey = await ensureSigningKey(engine, compiler);
    const parts = createSqlParts(engine, compiler);
    const afterRestore = async () => {
      signingKey = await ensureSigningKey(engine, compiler);
    };
    return {
      isShared: false,
      signals: NO_SIGNALS,
      ...parts,
      get signingKey() {
        return signingKey;
      },
      snapshots: createSnapshots({ directory, file, engine, afterRestore }),
      close: async () => {
        engine.close();
        lock.release();
      },
    };
  } catch (error) {
    engine.close();
    throw error;
  }
}

function fileIn(directory: string): string {
  return join(directory, 'sluice.db');
}

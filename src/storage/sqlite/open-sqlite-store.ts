import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { sqliteDialect } from '../sql/dialect.ts';
import { migrate } from '../sql/migrate.ts';
import { all } from '../sql/operation.ts';
import { createSqlParts, ensureSigningKey } from '../sql/sql-store.ts';
import { StatementCompiler } from '../sql/statement.ts';
import type { Store } from '../store.ts';
import { openDatabase } from './database.ts';
import { SqliteEngine } from './engine.ts';
import { type FolderLock, lockFolder } from './folder.ts';
import { createSnapshots, restoreFilesIn } from './snapshots.ts';

export async function openSqliteStore(options: { readonly directory: string }): Promise<Store> {
  const lock = lockFolder(options.directory);
  try {
    // Left behind where a server was killed during a restore.
    for (const file of restoreFilesIn(options.directory)) rmSync(file, { force: true });
    return await openLocked(options.directory, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function openLocked(directory: string, lock: FolderLock): Promise<Store> {
  const file = join(directory, 'sluice.db');
  const engine = new SqliteEngine(openDatabase(file));
  try {
    const compiler = new StatementCompiler(sqliteDialect);
    await migrate(engine, compiler);
    let signingKey = await ensureSigningKey(engine, compiler);
    const ping = compiler.statement<object>()(() => sqliteDialect.builder.selectFrom('meta').select('name').limit(1));
    const afterRestore = async () => {
      signingKey = await ensureSigningKey(engine, compiler);
    };
    return {
      isShared: false,
      ...createSqlParts(engine, compiler),
      get signingKey() {
        return signingKey;
      },
      ping: () =>
        engine.read(function* () {
          yield* all(ping, {});
        }),
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

import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { sqliteDialect } from '../sql/dialect.ts';
import { MIGRATIONS } from '../sql/migrations/all.ts';
import { migrationTexts } from '../sql/migrations/migrate.ts';
import { createSqlParts } from '../sql/sql-store.ts';
import { StatementCompiler } from '../sql/statement.ts';
import type { Store } from '../store.ts';
import { SqliteEngine } from './engine.ts';
import { createPing } from './ping.ts';

const SIGNING_KEY_BYTES = 32;

let schema: string | undefined;

/** SQLite with its pages in memory: a store that lives with its process, for tests and the simulation. */
export function createMemoryStore(): Store {
  schema ??= readNewestSchema();
  const db = openInMemory();
  db.exec(schema);
  const engine = new SqliteEngine(db);
  const compiler = new StatementCompiler(sqliteDialect);
  return {
    isShared: false,
    ...createSqlParts(engine, compiler),
    signingKey: Uint8Array.from(randomBytes(SIGNING_KEY_BYTES)),
    ping: createPing(engine, compiler),
    snapshots: undefined,
    close: async () => engine.close(),
  };
}

/** Copying the schema into each store takes a tenth of the time of the migrations. */
function readNewestSchema(): string {
  const db = openInMemory();
  for (const text of MIGRATIONS.flatMap((each) => migrationTexts(each, sqliteDialect))) db.exec(text);
  const parts = db.prepare('select sql from sqlite_schema where sql is not null order by rowid').all();
  db.close();
  return `begin; ${parts.map(({ sql }) => sql).join('; ')}; commit`;
}

function openInMemory(): DatabaseSync {
  return new DatabaseSync(':memory:', { enableForeignKeyConstraints: true });
}

import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { sqliteDialect } from '../sql/dialect.ts';
import { MIGRATIONS } from '../sql/migrations/all.ts';
import { migrationTexts } from '../sql/migrations/migrate.ts';
import { createSqlParts } from '../sql/sql-store.ts';
import { StatementCompiler } from '../sql/statement.ts';
import type { Store } from '../store.ts';
import { NO_SIGNALS } from '../waiting.ts';
import { SqliteEngine } from './engine.ts';

const SIGNING_KEY_BYTES = 32;
const SCHEMA = `begin; ${MIGRATIONS.flatMap((each) => migrationTexts(each, sqliteDialect)).join('; ')}; commit`;

/** SQLite with its pages in memory: a store that lives with its process, for tests and the simulation. */
export function createMemoryStore(): Store {
  const db = new DatabaseSync(':memory:', { enableForeignKeyConstraints: true });
  fill(db);
  const engine = new SqliteEngine(db);
  const compiler = new StatementCompiler(sqliteDialect);
  return {
    isShared: false,
    signals: NO_SIGNALS,
    ...createSqlParts(engine, compiler),
    signingKey: Uint8Array.from(randomBytes(SIGNING_KEY_BYTES)),
    snapshots: undefined,
    close: async () => engine.close(),
  };
}

/** A copy of an empty database is made in a fraction of the time of its schema. */
let empty: Uint8Array | undefined;

function fill(db: DatabaseSync): void {
  if (empty === undefined) {
    db.exec(SCHEMA);
    // The Node of some systems has no such method.
    empty = db.serialize?.();
  } else db.deserialize(empty);
}

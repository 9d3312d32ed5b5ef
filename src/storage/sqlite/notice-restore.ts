import { closeSync, openSync, readSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { sqliteDialect } from '../sql/dialect.ts';
import { migrate } from '../sql/migrations/migrate.ts';
import { renumberCandidates, renumberFeed } from '../sql/renumber.ts';
import { StatementCompiler } from '../sql/statement.ts';
import { hasMigrations } from './check-backup.ts';
import { APPLICATION_ID, readPragma } from './database.ts';
import { SqliteEngine } from './engine.ts';
import { toStoreError } from './errors.ts';

/** This byte of the header is 1 in a file that is written without a log, and 2 in one with a log. */
const WRITE_VERSION_AT = 18;
const WITHOUT_LOG = 1;

const CANDIDATE_COUNT = {
  read: "json_extract(body, '$.candidatesEver')",
  set: (count: number) => `json_set(body, '$.candidatesEver', ${count})`,
};

/** A backup was put in place while no server ran. A crash leaves it without a log: the next start notices it again. */
export async function noticeRestore(file: string): Promise<void> {
  if (readByte(file, WRITE_VERSION_AT) !== WITHOUT_LOG) return;
  const db = new DatabaseSync(file);
  try {
    // A new file has no tables yet. Whether a file is of Sluice at all is for the opening to say.
    if (readPragma(db, 'application_id') !== APPLICATION_ID || !hasMigrations(db)) return;
    await migrate(new SqliteEngine(db), new StatementCompiler(sqliteDialect));
    renumber(db);
  } catch (error) {
    throw toStoreError(error);
  } finally {
    db.close();
  }
}

export function renumber(db: DatabaseSync): void {
  db.exec(renumberFeed(Date.now()));
  db.exec(renumberCandidates(Date.now(), CANDIDATE_COUNT));
}

function readByte(file: string, at: number): number | undefined {
  const descriptor = openSync(file, 'r');
  try {
    const byte = Buffer.alloc(1);
    return readSync(descriptor, byte, 0, 1, at) === 1 ? byte[0] : undefined;
  } finally {
    closeSync(descriptor);
  }
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { Fault } from '../../lib/fault.ts';
import { MIGRATIONS } from '../sql/migrations/all.ts';
import { hasMigrations } from './check-backup.ts';
import { APPLICATION_ID, readPragma } from './database.ts';
import { toStoreError } from './errors.ts';

type Row = readonly SQLInputValue[];

/** The tables of an embedded store that no server uses. They are read, and never changed. */
export interface ReadTables {
  count(table: string): number;
  /** All rows of a table, one after the other. */
  rows(table: string, columns: readonly string[]): IterableIterator<Row>;
  close(): void;
}

/** The caller holds the lock of the folder. */
export function readTables(directory: string): ReadTables {
  const file = join(directory, 'sluice.db');
  if (!existsSync(file)) throw unusable(`There is no embedded store in ${directory}: the file sluice.db is missing.`);
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    db.exec('begin');
    refuseOthers(db, file);
  } catch (error) {
    db.close();
    throw toStoreError(error);
  }
  return {
    count: (table) => Number(db.prepare(`select count(*) as count from "${table}"`).get()?.['count']),
    rows: (table, columns) => {
      const select = db.prepare(`select ${columns.map((name) => `"${name}"`).join()} from "${table}"`);
      select.setReturnArrays(true);
      return select.iterate() as unknown as IterableIterator<Row>;
    },
    close: () => db.close(),
  };
}

// SPEC D51
function refuseOthers(db: DatabaseSync, file: string): void {
  if (readPragma(db, 'application_id') !== APPLICATION_ID || !hasMigrations(db)) {
    throw unusable(`${file} is no store of Sluice.`);
  }
  const version = Number(db.prepare('select max(version) as version from migrations').get()?.['version']);
  if (version === MIGRATIONS.length && readPragma(db, 'journal_mode') === 'wal') return;
  const problem =
    version > MIGRATIONS.length ? 'is of a newer version of Sluice' : 'was not opened by this version of Sluice yet';
  throw unusable(`${file} ${problem}. Start the server on it once with the version that you use, and stop it again.`);
}

function unusable(sentence: string): Fault {
  return new Fault('STORE_UNAVAILABLE', sentence);
}

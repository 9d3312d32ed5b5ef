export type SqlValue = string | number | null | boolean | Uint8Array;

/** Everything in which the two databases differ, as far as queries and migrations are concerned. */
export interface SqlDialect {
  readonly encodeBoolean: (value: boolean) => SqlValue;
  /** Of the value with this number, from 1. */
  readonly placeholder: (number: number) => string;
  /** In place of `limit` and its value. SQLite plans a query anew for each value of `limit ?`, fifty times as long as most take. */
  readonly limit: string;
  /** SQLite has one writer at a time and no row locks. */
  readonly hasRowLocks: boolean;
  /** How many rows one insert may carry, descending to 1. */
  readonly insertSizes: readonly number[];
  /** Words in migrations that each database spells differently. */
  readonly words: {
    /** Ordered by bytes in both databases, whatever the locale of the PostgreSQL cluster. */
    readonly TEXT: string;
    readonly BYTES: string;
    /** Stores a table in the order of its primary key, where the database can: one tree less to write. */
    readonly CLUSTERED: string;
  };
  /** Whether texts of any length can be in an index; PostgreSQL refuses to store those beyond some 2,700 bytes. */
  readonly hasLongKeys: boolean;
  /** Whether a table can consist of partitions, which go in one piece. */
  readonly hasPartitions: boolean;
  /** Whether all values of a column can travel as one parameter. */
  readonly hasArrays: boolean;
  /** The size of the whole database, in bytes. */
  readonly databaseSize: string;
  /** Run first in the transaction of each migration, where several servers may migrate at once. */
  readonly lockMigrations: string | undefined;
}

export const sqliteDialect: SqlDialect = {
  encodeBoolean: (value) => (value ? 1 : 0),
  // Values come in the order of their places. A numbered place has a name for SQLite, and node:sqlite looks for the
  // names one after another: the cost of a statement would grow with the square of its values.
  placeholder: () => '?',
  limit: 'limit $1 + 0',
  databaseSize: '(select page_count * page_size from pragma_page_count(), pragma_page_size())',
  hasRowLocks: false,
  // A statement costs less here than a longer one would save.
  insertSizes: [1],
  hasArrays: false,
  words: { TEXT: 'text', BYTES: 'blob', CLUSTERED: 'without rowid' },
  hasLongKeys: true,
  hasPartitions: false,
  lockMigrations: undefined,
};

export const postgresDialect: SqlDialect = {
  databaseSize: 'pg_database_size(current_database())',
  encodeBoolean: (value) => value,
  placeholder: (number) => `$${number}`,
  limit: 'limit $1',
  hasRowLocks: true,
  insertSizes: [256, 64, 32, 16, 8, 7, 6, 5, 4, 3, 2, 1],
  hasArrays: true,
  words: { TEXT: 'text collate "C"', BYTES: 'bytea', CLUSTERED: '' },
  hasLongKeys: false,
  hasPartitions: true,
  // The number is arbitrary; it only has to be Sluice's own within the database.
  lockMigrations: 'select pg_advisory_xact_lock(7305804393)',
};

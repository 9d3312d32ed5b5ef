import type { PoolClient } from 'pg';
import { Fault } from '../../lib/fault.ts';
import type { FeedStore } from '../feed.ts';
import { postgresDialect } from '../sql/dialect.ts';
import { migrate } from '../sql/migrations/migrate.ts';
import { executeAll, type SqlEngine } from '../sql/operation.ts';
import { partStatements, periodOfPart } from '../sql/run-parts.ts';
import { TABLES, type TableName } from '../sql/schema.ts';
import { createSqlParts } from '../sql/sql-store.ts';
import { StatementCompiler } from '../sql/statement.ts';
import { drive } from './engine.ts';
import { toStoreError } from './errors.ts';
import { createServer } from './pool.ts';

interface Source {
  count(table: string): number;
  rows(table: string, columns: readonly string[]): IterableIterator<readonly unknown[]>;
}

export interface TableProgress {
  readonly table: string;
  readonly copied: number;
  readonly total: number;
}

interface Filling {
  readonly source: Source;
  readonly onProgress: (progress: TableProgress) => void;
  /** Compares what was stored, before it is committed. */
  readonly verify: (feed: FeedStore) => Promise<void>;
}

interface Filled {
  /** The name of the database, for people. */
  readonly database: string;
  readonly tables: number;
  readonly rows: number;
}

/** One insert carries up to so many rows or characters. */
const MOST_ROWS = 2_000;
const MOST_SIZE = 4_000_000;
/** The limits of sessions are for requests, in which a person waits. */
const NO_LIMITS = 'SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0';
const LONGEST_QUERY_MS = 6 * 3_600_000;

// SPEC D50
export async function fillDatabase(url: string, filling: Filling): Promise<Filled> {
  const server = createServer(url, 1);
  try {
    const client = await server.connect();
    try {
      await client.query(`BEGIN; ${NO_LIMITS}`);
      await refuseTables(client, server.name);
      const counts = await fill(client, filling);
      await client.query('COMMIT');
      await ask(client, 'ANALYZE');
      return { database: server.name.replace(/,$/, ''), ...counts };
    } finally {
      client.release(true);
    }
  } catch (error) {
    throw toStoreError(server.name, error);
  } finally {
    await server.pool.end();
  }
}

// SPEC D51
async function refuseTables(client: PoolClient, name: string): Promise<void> {
  const tables = `select count(*) as count from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm')`;
  const count = Number((await client.query(tables)).rows[0].count);
  if (count === 0) return;
  const sentence = `${name} is not empty: it has ${count} tables. Nothing was moved. Name an empty database.`;
  throw new Fault('STORE_UNAVAILABLE', sentence);
}

async function fill(client: PoolClient, { source, onProgress, verify }: Filling): Promise<Omit<Filled, 'database'>> {
  const compiler = new StatementCompiler(postgresDialect);
  const run: SqlEngine['write'] = (operation) => drive(client, operation, true);
  const engine: SqlEngine = { read: run, snapshot: run, write: run, writeInTurn: run, writeUnsynced: run };
  await migrate(engine, compiler);
  await ensurePartitions(source, compiler, engine);
  let rows = 0;
  for (const table of Object.keys(TABLES) as TableName[]) {
    const total = source.count(table);
    const known = await countRows(client, table);
    // A migration fills these tables.
    if (known === 0)
      await copyTable(client, { table, source, onProgress: (copied) => onProgress({ table, copied, total }) });
    const stored = known === 0 ? await countRows(client, table) : known;
    if (stored !== total) {
      const sentence = `The table ${table} has ${stored} rows in PostgreSQL, and ${total} in the embedded store. Nothing was moved.`;
      throw new Fault('STORE_UNAVAILABLE', sentence);
    }
    rows += total;
  }
  await verify(createSqlParts(engine, compiler).feed);
  return { tables: Object.keys(TABLES).length, rows };
}

async function ensurePartitions(source: Source, compiler: StatementCompiler, engine: SqlEngine): Promise<void> {
  const parts = [...source.rows('run_parts', ['part'])].map(([part]) => Number(part));
  const { ensurePartition } = partStatements(compiler);
  for (const period of new Set(parts.map(periodOfPart))) await engine.write(() => executeAll(ensurePartition(period)));
}

async function countRows(client: PoolClient, table: string): Promise<number> {
  return Number((await ask(client, `select count(*) as count from "${table}"`)).rows[0].count);
}

/** The rows travel as one array for each column. */
async function copyTable(
  client: PoolClient,
  of: { readonly table: string; readonly source: Source; readonly onProgress: (copied: number) => void },
): Promise<void> {
  const columns = await listColumns(client, of.table);
  const types = columns.map(({ type }, index) => `$${index + 1}::${type}[]`).join();
  const insert = `insert into "${of.table}" (${columns.map(({ name }) => `"${name}"`).join()}) select * from unnest(${types})`;
  const names = columns.map(({ name }) => name);
  let [copied, count, size] = [0, 0, 0];
  let values: unknown[][] = columns.map(() => []);
  const flush = async () => {
    if (count === 0) return;
    await client.query(insert, values);
    copied += count;
    of.onProgress(copied);
    [count, size] = [0, 0];
    values = columns.map(() => []);
  };
  for (const row of of.source.rows(of.table, names)) {
    for (const [index, value] of row.entries()) {
      values[index]?.push(columns[index]?.type === 'boolean' && value !== null ? value === 1 : value);
      size += (value as { length?: number } | null)?.length ?? 8;
    }
    count += 1;
    if (count >= MOST_ROWS || size >= MOST_SIZE) await flush();
  }
  await flush();
}

async function listColumns(client: PoolClient, table: string): Promise<readonly { name: string; type: string }[]> {
  const columns = `select attname as name, format_type(atttypid, null) as type from pg_attribute
    where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`;
  return (await client.query(columns, [table])).rows;
}

function ask(client: PoolClient, text: string) {
  return client.query({ text, query_timeout: LONGEST_QUERY_MS } as { text: string });
}

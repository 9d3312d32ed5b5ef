import { query } from './postgres.ts';

/** The rows of each table, as of one moment. */
export type Dump = ReadonlyMap<string, string>;

const TABLES = "select tablename as name from pg_tables where schemaname = 'public'";

/** As pg_dump does, which the binaries of the tests lack. */
export async function dumpDatabase(url: string): Promise<Dump> {
  const names = (await query(url, [TABLES])).map((row) => String(row['name']));
  const rowsOf = (name: string) => `select coalesce(jsonb_agg(to_jsonb(t)), '[]')::text as rows from "${name}" t`;
  const read = await query(url, ['begin isolation level repeatable read', ...names.map(rowsOf), 'commit']);
  return new Map(names.map((name, index) => [name, String(read[index]?.['rows'])]));
}

/** As pg_restore does, into a database with the same tables. */
export async function loadDump(url: string, dump: Dump): Promise<void> {
  const load = ([name, rows]: readonly [string, string]) => [
    `truncate "${name}" cascade`,
    `insert into "${name}" select * from jsonb_populate_recordset(null::"${name}", ${quote(rows)}::jsonb)`,
  ];
  const statements = [...dump].map(load);
  const [emptied, filled] = [0, 1].map((part) => statements.map((each) => each[part] as string)) as [
    string[],
    string[],
  ];
  await query(url, ['begin', "set local session_replication_role = 'replica'", ...emptied, ...filled, 'commit']);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

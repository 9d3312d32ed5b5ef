import { assert } from '../../lib/assert.ts';
import type { ArgsOf, CheckedSql, ItemOf, RowOf } from './checked-sql.ts';
import type { SqlDialect, SqlValue } from './dialect.ts';
import { type Schema, TABLES, type TableName } from './schema.ts';

/** A query compiled once. Engines keep what they prepared for it under its id. */
export interface Statement<Args, Row> {
  readonly id: number;
  readonly sql: string;
  readonly returnsRows: boolean;
  bind(args: Args): SqlValue[];
  /** Never set; carries the type of the rows. */
  readonly row?: Row;
}

export interface Call {
  readonly statement: Statement<never, unknown>;
  readonly values: SqlValue[];
}

/** How PostgreSQL calls what a column of numbers holds. */
type NumberType = 'smallint' | 'integer' | 'bigint' | 'boolean';

/** Rows of one insert into SQLite where there are thousands: a longer statement is no faster. */
const MANY_ROWS = [50, 1];

/** Pages have up to a hundred rows. */
const LIST_SIZES = [1, 8, 64, 128, 512];

type ColumnOf<Table extends TableName> = keyof Schema[Table] & string;
type Rows<Table extends TableName> = readonly Schema[Table][];
type Insert<Table extends TableName> = (rows: Rows<Table>) => Call[];
type ReaderOf<Args> = (name: string) => (args: Args) => unknown;

/** The end of an insert, as the text of a statement that begins with its table. */
type Ending<Table extends TableName, Text extends string> = Text & CheckedSql<`insert into ${Table} ${Text}`>;

export class StatementCompiler {
  readonly dialect: SqlDialect;
  #nextId = 0;

  constructor(dialect: SqlDialect) {
    this.dialect = dialect;
  }

  /** A text whose columns the type check knows, with values as `:name`. Row locks are left out where there are none. */
  readonly sql = <const Text extends string>(text: Text & CheckedSql<Text>): Statement<ArgsOf<Text>, RowOf<Text>> =>
    this.raw(text);

  /** With a list `(:items)` of any length, asked in parts of a few lengths; filled up with its last value. */
  readonly sqlOfMany = <const Text extends string>(text: Text & CheckedSql<Text>) => {
    type ListArgs = { readonly args: Omit<ArgsOf<Text>, 'items'>; readonly items: readonly ItemOf<Text>[] };
    const ofSize = memoized((size) => {
      const items = Array.from({ length: size }, (_, index) => `:${index}`).join(', ');
      return this.#compile<ListArgs, RowOf<Text>>(text.replace(':items', items), (name) =>
        /^\d/.test(name)
          ? ({ items }) => items[Math.min(Number(name), items.length - 1)]
          : ({ args }) => args[name as keyof typeof args],
      );
    });
    return (args: ListArgs['args'], items: ListArgs['items']): RowsCall<RowOf<Text>>[] =>
      chunksOf(items, [LIST_SIZES.at(-1) as number], true).map((chunk) => {
        const size = LIST_SIZES.find((candidate) => candidate >= chunk.length) as number;
        return callOf(ofSize(size), { args, items: chunk });
      });
  };

  /** For SQL that the type check cannot follow. */
  readonly raw = <Args = object, Row = unknown>(text: string): Statement<Args, Row> =>
    this.#compile(text, (name) => (args) => args[name as keyof Args]);

  /** An insert of one row, with what follows the values. */
  insertOne<Table extends TableName, const Text extends string>(
    table: Table,
    ending: Ending<Table, Text>,
  ): Statement<Schema[Table], Schema[Table]> {
    return this.#compile(insertText(table, 1, ending), (name) => {
      const [column = ''] = name.split('.');
      return (row) => row[column as ColumnOf<Table>];
    });
  }

  /** An insert of rows, compiled for each number of rows that the dialect takes at once. */
  insert<Table extends TableName, const Text extends string = ''>(
    table: Table,
    ending = '' as Ending<Table, Text>,
  ): Insert<Table> {
    return this.#insert(table, ending, this.dialect.insertSizes);
  }

  /** The same, and a row whose key is there is replaced, but for the columns that it keeps. */
  upsert<Table extends TableName>(
    table: Table,
    key: readonly ColumnOf<Table>[],
    kept: readonly ColumnOf<Table>[] = [],
  ): Insert<Table> {
    return this.#insert(table, replacing(table, key, kept), this.dialect.insertSizes);
  }

  /** An insert of thousands of rows of numbers. PostgreSQL takes an array for each column twice as fast as the values. */
  insertNumbers<Table extends TableName>(
    table: Table,
    types: Readonly<Record<ColumnOf<Table>, NumberType>>,
  ): Insert<Table> {
    if (!this.dialect.hasArrays) return this.#insert(table, '', MANY_ROWS);
    const columns = columnsOf(table);
    const arrays = columns.map((column) => `:${column}::${types[column]}[]`);
    const statement = this.#compile<Rows<Table>, unknown>(
      `insert into ${table} (${columns.join(', ')}) select * from unnest(${arrays.join(', ')})`,
      (name) => (rows) => `{${rows.map((row) => row[name as ColumnOf<Table>] ?? 'null').join(',')}}`,
    );
    return (rows) => (rows.length === 0 ? [] : [callOf(statement, rows)]);
  }

  #insert<Table extends TableName>(table: Table, ending: string, sizes: readonly number[]): Insert<Table> {
    const ofSize = memoized((size) =>
      this.#compile<Rows<Table>, unknown>(insertText(table, size, ending), (name) => {
        const [column = '', index] = name.split('.');
        return (rows) => (rows[Number(index)] as Schema[Table])[column as ColumnOf<Table>];
      }),
    );
    return (rows) => chunksOf(rows, sizes).map((chunk) => callOf(ofSize(chunk.length), chunk));
  }

  /** Compiled at its first use: a server uses a part of the statements when it starts, a test a few. */
  #compile<Args, Row>(text: string, readerOf: ReaderOf<Args>): Statement<Args, Row> {
    const { dialect } = this;
    let made: Compiled<Args> | undefined;
    const compiled = () => {
      made ??= compile(text, readerOf, dialect);
      return made;
    };
    return {
      id: this.#nextId++,
      get sql() {
        return compiled().sql;
      },
      get returnsRows() {
        return compiled().returnsRows;
      },
      bind: (args) => compiled().bind(args),
    };
  }
}

type Compiled<Args> = Pick<Statement<Args, unknown>, 'sql' | 'returnsRows' | 'bind'>;

function compile<Args>(text: string, readerOf: ReaderOf<Args>, dialect: SqlDialect): Compiled<Args> {
  const { hasRowLocks, placeholder, limit, encodeBoolean } = dialect;
  const readers: ((args: Args) => unknown)[] = [];
  const sql = (hasRowLocks ? text : text.replace(/ for update( skip locked)?$/, ''))
    .replaceAll(/(?<!:):([\w.]+)/g, (_, name) => placeholder(readers.push(readerOf(name))))
    .replaceAll(/\blimit ([^\s)]+)/g, limit);
  return {
    sql,
    returnsRows: /^\s*(select|with)\b|\breturning\b/i.test(sql),
    bind: (args) => readers.map((read) => encode(read(args), encodeBoolean)),
  };
}

/** A call whose rows have this type. */
export interface RowsCall<Row> extends Call {
  readonly row?: Row;
}

export function callOf<Args, Row>(statement: Statement<Args, Row>, args: Args): RowsCall<Row> {
  return { statement, values: statement.bind(args) };
}

/** A value is named by its column and the number of its row. */
function insertText(table: TableName, size: number, ending: string): string {
  const columns = columnsOf(table);
  const rows = Array.from({ length: size }, (_, index) => `(${columns.map((name) => `:${name}.${index}`).join(', ')})`);
  return `insert into ${table} (${columns.join(', ')}) values ${rows.join(', ')} ${ending}`;
}

function columnsOf<Table extends TableName>(table: Table): readonly ColumnOf<Table>[] {
  return Object.keys(TABLES[table]) as ColumnOf<Table>[];
}

/** The end of an insert in which a row whose key is there is replaced. */
export function replacing<Table extends TableName>(
  table: Table,
  key: readonly ColumnOf<Table>[],
  kept: readonly ColumnOf<Table>[],
): string {
  const replaced = columnsOf(table).filter((column) => !key.includes(column) && !kept.includes(column));
  const values = replaced.map((column) => `${column} = excluded.${column}`);
  return `on conflict (${key.join(', ')}) do update set ${values.join(', ')}`;
}

function encode(value: unknown, encodeBoolean: (value: boolean) => SqlValue): SqlValue {
  if (typeof value === 'boolean') return encodeBoolean(value);
  // PostgreSQL cannot store it; refused everywhere, so that no data is stuck in one kind of store.
  if (typeof value === 'string') assert(!value.includes('\0'), 'text with the character U+0000 cannot be stored');
  else if (!(value instanceof Uint8Array)) {
    assert(value === null || typeof value === 'number', `a ${typeof value} cannot be stored`);
  }
  return value as SqlValue;
}

function memoized<Value>(make: (size: number) => Value): (size: number) => Value {
  const made = new Map<number, Value>();
  return (size) => {
    let value = made.get(size);
    if (value === undefined) {
      value = make(size);
      made.set(size, value);
    }
    return value;
  };
}

/** Parts of these sizes (descending), the largest that fit first; `isLastShort` lets the last part be shorter. */
function chunksOf<T>(items: readonly T[], sizes: readonly number[], isLastShort = false): (readonly T[])[] {
  const chunks: (readonly T[])[] = [];
  for (let start = 0; start < items.length; ) {
    const left = items.length - start;
    const size = sizes.find((candidate) => candidate <= left) ?? (isLastShort ? left : 1);
    chunks.push(start === 0 && size === items.length ? items : items.slice(start, start + size));
    start += size;
  }
  return chunks;
}

/** One after the other for each name: on several connections a later write could overtake an earlier one. */
export function inOrder(): (name: string, write: () => Promise<void>) => Promise<void> {
  const latest = new Map<string, Promise<void>>();
  return (name, write) => {
    const before = latest.get(name);
    const written = before === undefined ? write() : before.then(write, write);
    latest.set(name, written);
    const forget = () => {
      if (latest.get(name) === written) latest.delete(name);
    };
    written.then(forget, forget);
    return written;
  };
}

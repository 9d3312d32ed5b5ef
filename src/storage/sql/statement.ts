import { CompiledQuery, type InsertQueryBuilder, type InsertResult, sql } from 'kysely';
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

/** One use of a statement. */
export interface Call {
  readonly statement: Statement<never, unknown>;
  readonly values: SqlValue[];
}

export interface Compilable<Row> {
  compile(): CompiledQuery<Row>;
}

/** The query builder takes a placeholder as if it were the value itself. */
export type Placeholders<Args> = <Key extends keyof Args & string>(name: Key) => Args[Key];

/** How PostgreSQL calls what a column of numbers holds. */
type NumberType = 'smallint' | 'integer' | 'bigint' | 'boolean';

/** Rows of one insert into SQLite where there are thousands: a longer statement is no faster. */
const MANY_ROWS = [50, 1];

/** Pages have up to a hundred rows. */
const LIST_SIZES = [1, 8, 64, 128, 512];

export type ColumnOf<Table extends TableName> = keyof Schema[Table] & string;
export type Insert<Table extends TableName> = InsertQueryBuilder<Schema, Table, InsertResult>;

class Placeholder<Args> {
  readonly read: (args: Args) => unknown;

  constructor(read: (args: Args) => unknown) {
    this.read = read;
  }
}

export class StatementCompiler {
  readonly dialect: SqlDialect;
  #nextId = 0;

  constructor(dialect: SqlDialect) {
    this.dialect = dialect;
  }

  /** Curried so that the arguments are named by the caller and the rows inferred. */
  statement<Args>(): <Row>(build: (param: Placeholders<Args>) => Compilable<Row>) => Statement<Args, Row> {
    return (build) => this.#compile(() => build((name) => placeholder((args: Args) => args[name])));
  }

  /** A text whose columns the type check knows, with values as `:name`. Row locks are left out where there are none. */
  readonly sql = <const Text extends string>(text: Text & CheckedSql<Text>): Statement<ArgsOf<Text>, RowOf<Text>> =>
    this.statement<ArgsOf<Text>>()((param) => this.#parse<RowOf<Text>>(text, param));

  /** The same with a list `(:items)` of any length, asked in parts. */
  readonly sqlOfMany = <const Text extends string>(text: Text & CheckedSql<Text>) =>
    this.list<Omit<ArgsOf<Text>, 'items'>, ItemOf<Text>>()((param, items) =>
      this.#parse<RowOf<Text>>(text, param, items),
    );

  #parse<Row>(text: string, param: (name: never) => unknown, items: readonly unknown[] = []): Compilable<Row> {
    const { hasRowLocks, placeholder, limit } = this.dialect;
    const values: unknown[] = [];
    const place = (value: unknown) => placeholder(values.push(value));
    const written = (hasRowLocks ? text : text.replace(/ for update( skip locked)?$/, ''))
      .replaceAll(/(?<!:):(\w+)/g, (_, name) =>
        (name === 'items' ? items : [param(name as never)]).map(place).join(', '),
      )
      .replaceAll(/\blimit (\S+)/g, limit);
    return { compile: () => CompiledQuery.raw(written, values) };
  }

  /** For SQL that the query builder cannot express. */
  raw(text: string): Statement<object, unknown> {
    return this.#compile(() => ({ compile: () => sql.raw(text).compile(this.dialect.builder) }));
  }

  /** An insert of one row, with what follows the values. */
  insertOne<Table extends TableName, Output>(
    table: Table,
    refine: (insert: Insert<Table>) => Compilable<Output>,
  ): Statement<Schema[Table], Output> {
    type Row = Schema[Table];
    return this.#compile(() => refine(this.#insertInto(table, [rowOf(table, (column) => (row: Row) => row[column])])));
  }

  /** An insert of rows, compiled for each number of rows that the dialect takes at once. */
  insert<Table extends TableName>(
    table: Table,
    refine: (insert: Insert<Table>) => Compilable<unknown> = (insert) => insert,
    sizes = this.dialect.insertSizes,
  ): (rows: readonly Schema[Table][]) => Call[] {
    type Rows = readonly Schema[Table][];
    const ofSize = memoized((size) =>
      this.#compile<Rows, unknown>(() => {
        const rows = Array.from({ length: size }, (_, index) =>
          rowOf(table, (column) => (all: Rows) => (all[index] as Schema[Table])[column]),
        );
        return refine(this.#insertInto(table, rows));
      }),
    );
    return (rows) => chunksOf(rows, sizes).map((chunk) => callOf(ofSize(chunk.length), chunk));
  }

  /** The same, and a row whose key is there is replaced, but for the columns that it keeps. */
  upsert<Table extends TableName>(
    table: Table,
    key: readonly ColumnOf<Table>[],
    kept: readonly ColumnOf<Table>[] = [],
  ): (rows: readonly Schema[Table][]) => Call[] {
    return this.insert(table, (insert) => replacing(insert, table, { key, kept }));
  }

  #insertInto<Table extends TableName>(table: Table, rows: readonly Schema[Table][]): Insert<Table> {
    return this.dialect.builder.insertInto(table).values(rows as never);
  }

  /** An insert of thousands of rows of numbers. PostgreSQL takes an array for each column twice as fast as the values. */
  insertNumbers<Table extends TableName>(
    table: Table,
    types: Readonly<Record<ColumnOf<Table>, NumberType>>,
  ): (rows: readonly Schema[Table][]) => Call[] {
    type Row = Schema[Table];
    const { builder, hasArrays } = this.dialect;
    if (!hasArrays) return this.insert(table, undefined, MANY_ROWS);
    const columns = columnsOf(table);
    const arrayOf = (column: ColumnOf<Table>) => {
      const values = placeholder((rows: readonly Row[]) => `{${rows.map((row) => row[column] ?? 'null').join(',')}}`);
      return sql`${values}::${sql.raw(types[column])}[]`;
    };
    const statement = this.#compile<readonly Row[], unknown>(() => {
      const arrays = sql.join(columns.map(arrayOf));
      const names = sql.join(columns.map((column) => sql.ref(column)));
      const insert = sql`insert into ${sql.table(table)} (${names}) select * from unnest(${arrays})`;
      return { compile: () => insert.compile(builder) };
    });
    return (rows) => (rows.length === 0 ? [] : [callOf(statement, rows)]);
  }

  /**
   * A query with a list of any length, asked in parts. Compiled for a few lengths; the list is filled up with
   * repetitions of its last value.
   */
  list<Args, Item>(): <Row>(
    build: (param: Placeholders<Args>, items: Item[]) => Compilable<Row>,
  ) => (args: Args, items: readonly Item[]) => RowsCall<Row>[] {
    type ListArgs = { readonly args: Args; readonly items: readonly Item[] };
    return <Row>(build: (param: Placeholders<Args>, items: Item[]) => Compilable<Row>) => {
      const ofSize = memoized((size) =>
        this.#compile<ListArgs, Row>(() =>
          build(
            (name) => placeholder((all: ListArgs) => all.args[name]),
            Array.from({ length: size }, (_, index) =>
              placeholder((all: ListArgs) => all.items[Math.min(index, all.items.length - 1)] as Item),
            ),
          ),
        ),
      );
      return (args, items) =>
        chunksOf(items, [LIST_SIZES.at(-1) as number], true).map((chunk) => {
          const size = LIST_SIZES.find((candidate) => candidate >= chunk.length) as number;
          return callOf(ofSize(size), { args, items: chunk }) as RowsCall<Row>;
        });
    };
  }

  /** The query is built and compiled at its first use: a server uses a part of them when it starts, a test a few. */
  #compile<Args, Row>(build: () => Compilable<Row>): Statement<Args, Row> {
    const { encodeBoolean } = this.dialect;
    let made: Compiled<Args> | undefined;
    const compiled = () => {
      made ??= compile<Args>(build(), encodeBoolean);
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

function compile<Args>(query: Compilable<unknown>, encodeBoolean: SqlDialect['encodeBoolean']): Compiled<Args> {
  const { sql, parameters } = query.compile();
  const readers = parameters.map((parameter) => (parameter instanceof Placeholder ? parameter.read : () => parameter));
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

function placeholder<Args, Value>(read: (args: Args) => Value): Value {
  return new Placeholder(read) as Value;
}

function rowOf<Table extends TableName, Args>(
  table: Table,
  reader: (column: ColumnOf<Table>) => (args: Args) => unknown,
): Schema[Table] {
  return Object.fromEntries(columnsOf(table).map((column) => [column, placeholder(reader(column))])) as Schema[Table];
}

function columnsOf<Table extends TableName>(table: Table): readonly ColumnOf<Table>[] {
  return Object.keys(TABLES[table]) as ColumnOf<Table>[];
}

/** Adds to an insert that a row whose key is there is replaced. */
export function replacing<Table extends TableName>(
  insert: Insert<Table>,
  table: Table,
  { key, kept }: { readonly key: readonly ColumnOf<Table>[]; readonly kept: readonly ColumnOf<Table>[] },
): Insert<Table> {
  const replaced = columnsOf(table).filter((column) => !key.includes(column) && !kept.includes(column));
  const values = Object.fromEntries(replaced.map((column) => [column, sql.ref(`excluded.${column}`)]));
  return insert.onConflict((conflict) => conflict.columns(key as never).doUpdateSet(values as never));
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

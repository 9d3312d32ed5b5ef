import { type CompiledQuery, sql } from 'kysely';
import { assert } from '../../lib/assert.ts';
import type { SqlDialect, SqlValue } from './dialect.ts';
import type { Schema } from './schema.ts';

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

  /** For SQL that the query builder cannot express. */
  raw(text: string): Statement<object, unknown> {
    return this.#compile(() => ({ compile: () => sql.raw(text).compile(this.dialect.builder) }));
  }

  /** An insert of rows, compiled for each number of rows that the dialect takes at once. */
  bulk<Row extends object>(
    columns: readonly (keyof Row & string)[],
    build: (rows: Row[]) => Compilable<unknown>,
    sizes = this.dialect.insertSizes,
  ): (rows: readonly Row[]) => Call[] {
    const ofSize = memoized((size) =>
      this.#compile<readonly Row[], unknown>(() =>
        build(
          Array.from({ length: size }, (_, index) =>
            Object.fromEntries(columns.map((column) => [column, placeholder(rowReader<Row>(index, column))])),
          ) as Row[],
        ),
      ),
    );
    return (rows) => chunksOf(rows, sizes).map((chunk) => callOf(ofSize(chunk.length), chunk));
  }

  /** An insert of thousands of rows of numbers. PostgreSQL takes an array for each column twice as fast as the values. */
  bulkOfNumbers<Table extends keyof Schema>(
    table: Table,
    types: Readonly<Record<keyof Schema[Table] & string, NumberType>>,
  ): (rows: readonly Schema[Table][]) => Call[] {
    type Row = Schema[Table];
    const { builder, hasArrays } = this.dialect;
    const columns = Object.keys(types) as (keyof Row & string)[];
    if (!hasArrays) {
      return this.bulk<Row>(columns, (rows) => builder.insertInto(table).values(rows as never), MANY_ROWS);
    }
    const arrayOf = (column: keyof Row & string) => {
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

function rowReader<Row>(index: number, column: keyof Row) {
  return (rows: readonly Row[]) => (rows[index] as Row)[column];
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

import { type Call, callOf, type RowsCall, type Statement } from './statement.ts';

export interface Result {
  readonly rows: readonly unknown[];
  /** Rows inserted, updated or deleted. */
  readonly changes: number;
}

/**
 * A generator that yields calls and is given their results, written once for both databases. SQLite runs it in one go,
 * so a group of writes is one synchronous transaction; PostgreSQL awaits between the yields, and sends the calls of one
 * yield together. It may run again from its beginning, and so keeps no state outside itself.
 */
export type Operation<T> = Generator<readonly Call[], T, readonly Result[]>;

export interface SqlEngine {
  /** Statements that need not agree with each other. */
  read<T>(operation: () => Operation<T>): Promise<T>;
  /** Statements that see one state of the database. */
  snapshot<T>(operation: () => Operation<T>): Promise<T>;
  /** All of it is stored when the promise resolves, and nothing when it rejects. */
  write<T>(operation: () => Operation<T>): Promise<T>;
  /** The same, for what other servers wait for: a server that vanishes meanwhile loses it within 2 s. */
  writeInTurn<T>(operation: () => Operation<T>): Promise<T>;
  /** Does not wait for the disk: for what is done again if a power cut, but no crash, undoes it. */
  writeUnsynced<T>(operation: () => Operation<T>): Promise<T>;
}

export function* all<Args, Row>(statement: Statement<Args, Row>, args: Args): Operation<readonly Row[]> {
  const [result] = yield [callOf(statement, args)];
  return (result as Result).rows as readonly Row[];
}

export function* first<Args, Row>(statement: Statement<Args, Row>, args: Args): Operation<Row | undefined> {
  return (yield* all(statement, args))[0];
}

export function* findRow<Args, Row, Item>(
  statement: Statement<Args, Row>,
  args: Args,
  toItem: (row: Row) => Item,
): Operation<Item | undefined> {
  const row = yield* first(statement, args);
  return row === undefined ? undefined : toItem(row);
}

export function* listRows<Args, Row, Item>(
  statement: Statement<Args, Row>,
  args: Args,
  toItem: (row: Row) => Item,
): Operation<readonly Item[]> {
  return (yield* all(statement, args)).map((row) => toItem(row));
}

/** The number of rows changed. */
export function* execute<Args>(statement: Statement<Args, unknown>, args: Args): Operation<number> {
  const [result] = yield [callOf(statement, args)];
  return (result as Result).changes;
}

/** Whether a row was changed. */
export function* changes<Args>(statement: Statement<Args, unknown>, args: Args): Operation<boolean> {
  return (yield* execute(statement, args)) > 0;
}

export function* run<Args>(statement: Statement<Args, unknown>, args: Args): Operation<void> {
  yield [callOf(statement, args)];
}

export function* executeAll(calls: readonly Call[]): Operation<void> {
  if (calls.length > 0) yield calls;
}

/** The rows of each call; sent at once, and of one state of the database only within a snapshot. */
export function* together<Rows extends readonly unknown[]>(
  ...calls: { readonly [Index in keyof Rows]: RowsCall<Rows[Index]> }
): Operation<{ readonly [Index in keyof Rows]: readonly Rows[Index][] }> {
  const results = yield calls;
  return results.map(({ rows }) => rows) as { readonly [Index in keyof Rows]: readonly Rows[Index][] };
}

export function* allOf<Row>(calls: readonly RowsCall<Row>[]): Operation<readonly Row[]> {
  if (calls.length === 0) return [];
  const results = yield calls;
  return results.flatMap((result) => result.rows as readonly Row[]);
}

/** How a column keeps a value: queries see `Stored`, rows of a port have `Value`. */
export interface Column<Stored, Value = Stored> {
  readonly kind: 'plain' | 'flag' | 'json';
  /** Never set; carries the types. */
  readonly types?: readonly [Stored, Value];
}

// biome-ignore lint/suspicious/noExplicitAny: a column of any type.
export type Columns = Readonly<Record<string, Column<any, any>>>;

const PLAIN = { kind: 'plain' } as const;

export const text: Column<string> = PLAIN;
export const number: Column<number> = PLAIN;
export const bytes: Column<Uint8Array> = PLAIN;
/** SQLite answers 0 and 1 for it. */
export const flag: Column<boolean> = { kind: 'flag' };

export function id<Id extends string>(): Column<string, Id> {
  return PLAIN;
}

export function oneOf<Text extends string>(): Column<Text> {
  return PLAIN;
}

/** Text in both databases: only Sluice reads it. */
export function json<Value>(): Column<string, Value> {
  return { kind: 'json' };
}

export function orNull<Stored, Value>({ kind }: Column<Stored, Value>): Column<Stored | null, Value | null> {
  return { kind };
}

type TypesOf<Of> = Of extends { readonly types?: infer Types } ? NonNullable<Types> : never;

/** A row as queries see it. */
export type StoredRow<Table extends Columns> = {
  [Name in keyof Table]: TypesOf<Table[Name]>[0 & keyof TypesOf<Table[Name]>];
};

/** The same row as a port has it: the fields have the names of the columns, in camel case. */
export type PortRow<Table extends Columns> = {
  readonly [Name in keyof Table as CamelCase<Name & string>]: TypesOf<Table[Name]>[1 & keyof TypesOf<Table[Name]>];
};

export type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

export interface RowCodec<Table extends Columns> {
  to(row: StoredRow<Table>): PortRow<Table>;
  from(row: PortRow<Table>): StoredRow<Table>;
}

interface Field {
  readonly column: string;
  readonly name: string;
  readonly kind: Column<unknown>['kind'];
}

/** Turns rows of the database into rows of a port and back. */
export function rowsOf<Table extends Columns>(columns: Table): RowCodec<Table> {
  const fields = Object.entries(columns).map(([column, { kind }]): Field => {
    const name = column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    return { column, name, kind };
  });
  return {
    to: (row) => {
      const values: Record<string, unknown> = {};
      for (const { column, name, kind } of fields) values[name] = decode(kind, (row as Row)[column]);
      return values as PortRow<Table>;
    },
    from: (row) => {
      const values: Record<string, unknown> = {};
      for (const { column, name, kind } of fields) values[column] = encode(kind, (row as Row)[name]);
      return values as StoredRow<Table>;
    },
  };
}

type Row = Readonly<Record<string, unknown>>;

function decode(kind: Field['kind'], value: unknown): unknown {
  if (kind === 'plain' || value === null) return value;
  return kind === 'flag' ? Boolean(value) : JSON.parse(value as string);
}

function encode(kind: Field['kind'], value: unknown): unknown {
  return kind === 'json' && value !== null ? JSON.stringify(value) : value;
}

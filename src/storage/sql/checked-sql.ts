import type { CamelCase } from './columns.ts';
import type { SqlValue } from './dialect.ts';
import type { Schema, TableName } from './schema.ts';

/**
 * Types of a statement, read from its text. A word that is no keyword and no column of the tables that the text names
 * is misspelt. A value `:name` has the type of the column that it is compared with, or else of the column of its name.
 */

type Mark = '(' | ')' | ',';

type Push<Done extends readonly string[], Word extends string> = Word extends '' ? Done : [...Done, Word];

/** Splits at blanks first: TypeScript refuses a recursion that goes through a long text by characters. */
type Words<Text extends string, Done extends readonly string[] = []> = Text extends `${infer Word} ${infer Rest}`
  ? Words<Rest, [...Done, ...Parts<Word>]>
  : [...Done, ...Parts<Text>];

type Parts<
  Text extends string,
  Word extends string = '',
  Done extends readonly string[] = [],
> = Text extends `${infer Char}${infer Rest}`
  ? Char extends '\n'
    ? Parts<Rest, '', Push<Done, Word>>
    : Char extends Mark
      ? Parts<Rest, '', [...Push<Done, Word>, Char]>
      : Parts<Rest, `${Word}${Char}`, Done>
  : Push<Done, Word>;

type Compared = '=' | '<' | '<=' | '>' | '>=' | '<>';

type Keyword =
  | ('select' | 'distinct' | 'from' | 'cross' | 'join' | 'left' | 'on' | 'as' | 'where' | 'and' | 'or' | 'not')
  | (
      | 'exists'
      | 'in'
      | 'is'
      | 'null'
      | 'true'
      | 'false'
      | 'order'
      | 'group'
      | 'by'
      | 'asc'
      | 'desc'
      | 'having'
      | 'limit'
    )
  | (
      | 'offset'
      | 'union'
      | 'all'
      | 'update'
      | 'set'
      | 'delete'
      | 'returning'
      | 'for'
      | 'skip'
      | 'locked'
      | 'case'
      | 'when'
    )
  | ('then' | 'else' | 'end' | 'insert' | 'into' | 'values' | 'conflict' | 'do' | 'nothing' | 'filter' | 'over')
  | (
      | 'partition'
      | 'row_number'
      | 'count'
      | 'sum'
      | 'min'
      | 'max'
      | 'coalesce'
      | 'lower'
      | 'like'
      | 'escape'
      | 'between'
    )
  | ('*' | '+' | '-' | '/' | '||' | Compared | Mark);

/** The words that follow one of these. */
type After<All extends readonly string[], Before extends string, Found = never> = All extends readonly [
  infer First,
  infer Second extends string,
  ...infer Rest extends readonly string[],
]
  ? After<[Second, ...Rest], Before, First extends Before ? Found | Second : Found>
  : Found;

type TablesIn<All extends readonly string[]> = Extract<After<All, 'from' | 'join' | 'update' | 'into'>, TableName>;

type ColumnIn<Tables extends TableName> = Tables extends TableName ? keyof Schema[Tables] & string : never;

type TypeIn<Tables extends TableName, Column> = Tables extends TableName
  ? Column extends keyof Schema[Tables]
    ? Schema[Tables][Column]
    : never
  : never;

type Bare<Word> = Word extends `${string}.${infer Column}` ? Column : Word;

type Misspelt<All extends readonly string[], Column extends string = ColumnIn<TablesIn<All>>> = Exclude<
  All[number],
  | (Keyword | TableName | Column | After<All, 'as'>)
  | (`${string}.${Column | After<All, 'as'> | '*'}` | `:${string}` | `'${string}'` | `${number}`)
>;

/** Asks of a text with a misspelt word for what no text has. */
export type CheckedSql<Text extends string> = [Misspelt<Words<Text>>] extends [never]
  ? unknown
  : { readonly misspelt: Misspelt<Words<Text>> };

type NamedIn<Tables extends TableName> = {
  [Column in ColumnIn<Tables> as CamelCase<Column>]: TypeIn<Tables, Column>;
};

type TypeByName<Tables extends TableName, Name> = Name extends keyof NamedIn<Tables> ? NamedIn<Tables>[Name] : SqlValue;

type Value<Tables extends TableName, Name, Column, By> = By extends 'limit' | 'offset'
  ? number
  : By extends Compared | 'in' | 'like'
    ? [TypeIn<Tables, Bare<Column>>] extends [never]
      ? TypeByName<Tables, Name>
      : TypeIn<Tables, Bare<Column>>
    : TypeByName<Tables, Name>;

/** Pairs of a name and its type. `x in (:name)` has a parenthesis between. */
type Values<All extends readonly unknown[], Tables extends TableName, Found = never> = All extends readonly [
  infer Zeroth,
  infer First,
  infer Second,
  infer Third,
  ...infer Rest,
]
  ? Values<
      [First, Second, Third, ...Rest],
      Tables,
      Third extends `:${infer Name}`
        ? Found | [Name, Second extends '(' ? Value<Tables, Name, Zeroth, First> : Value<Tables, Name, First, Second>]
        : Found
    >
  : Found;

type ByName<Pairs> = { readonly [Pair in Pairs as NameOf<Pair>]: TypeOf<Pair> };
type NameOf<Pair> = Pair extends readonly [infer Name extends string, unknown] ? Name : never;
type TypeOf<Pair> = Pair extends readonly [unknown, infer Type] ? Type : never;

export type ArgsOf<Text extends string> = ByName<Values<['', '', '', ...Words<Text>], TablesIn<Words<Text>>>>;

/** An item of its list. */
export type ItemOf<Text extends string> = ArgsOf<Text> extends { readonly items: infer Item } ? Item : never;

/** Pairs of the first and the last word of each item of a list that ends at `from`, or at the end. */
type Items<
  All extends readonly string[],
  Depth extends readonly 0[] = [],
  First = undefined,
  Last = undefined,
  Found = never,
> = All extends readonly [infer Word, ...infer Rest extends readonly string[]]
  ? Word extends '('
    ? Items<Rest, [...Depth, 0], First extends undefined ? Word : First, Last, Found>
    : Depth extends readonly [0, ...infer Less extends readonly 0[]]
      ? Items<Rest, Word extends ')' ? Less : Depth, First, Last, Found>
      : Word extends 'from'
        ? Found | [First, Last]
        : Word extends ','
          ? Items<Rest, [], undefined, undefined, Found | [First, Last]>
          : Items<Rest, [], First extends undefined ? Word : First, Word, Found>
  : Found | [First, Last];

type Listed<All extends readonly string[]> = All extends readonly [
  'select',
  'distinct',
  ...infer Rest extends readonly string[],
]
  ? Items<Rest>
  : All extends readonly ['select', ...infer Rest extends readonly string[]]
    ? Items<Rest>
    : All extends readonly [unknown, ...infer Rest extends readonly string[]]
      ? Returned<Rest>
      : never;

type Returned<All extends readonly string[]> = All extends readonly [
  infer Word,
  ...infer Rest extends readonly string[],
]
  ? Word extends 'returning'
    ? Items<Rest>
    : Returned<Rest>
  : never;

type Item<Pair, All extends readonly string[]> = Pair extends readonly [infer First, infer Last]
  ? Bare<Last> extends '*'
    ? never
    : [Bare<Last>, Shown<TypeIn<TablesIn<All>, Bare<Last>>, TypeIn<TablesIn<All>, Bare<First>>, First, All>]
  : never;

/** An expression is a number, unless it has the name of a column. A subquery, and a figure of no rows, is null. A group has rows. */
type Shown<Type, Only, First, All extends readonly string[]> =
  | ([Type] extends [never] ? ([Only] extends [never] ? number : Only) : Type)
  | (First extends '('
      ? null
      : First extends 'min' | 'max' | 'sum'
        ? 'group' extends All[number]
          ? never
          : null
        : never);

type Star = readonly [unknown, `${string}*`];

type Whole<Pair, Tables extends TableName> = Pair extends readonly [unknown, '*']
  ? Schema[Tables]
  : Pair extends readonly [unknown, `${infer Table extends TableName}.*`]
    ? Schema[Table]
    : unknown;

type Row<Pairs, All extends readonly string[]> = [Extract<Pairs, Star>] extends [never]
  ? ByName<Item<Pairs, All>>
  : Whole<Extract<Pairs, Star>, TablesIn<All>> & ByName<Item<Pairs, All>>;

export type RowOf<Text extends string> = Row<Listed<Words<Text>>, Words<Text>>;

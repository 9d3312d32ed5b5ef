import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { addExamples } from './arguments.ts';
import type { CallOptions } from './client.ts';
import { type Context, createContext, type GlobalOptions } from './context.ts';
import { usageError } from './exit.ts';
import type { AnswerOf, BodyOf, OperationName } from './operations.ts';
import { say } from './terminal.ts';

/** A command is a row: its words and options by the flags that users type, and the operation that it calls. */

type Parse<T> = (text: string, before: never) => T;

/** A word or an option: its text, or more about it. */
interface Detail<T = unknown> {
  readonly text: string;
  readonly parse?: Parse<T>;
  readonly choices?: readonly string[];
  /** Its value if it is not given. */
  readonly initial?: T;
  readonly isRequired?: true;
  /** In place of the flags in the help; an empty one hides it. */
  readonly shown?: string;
}

type Spec = string | readonly [text: string, parse: Parse<unknown>] | Detail;

/** By flags: `<id>`, `[file]`, `--yes`, `-f, --follow`, `--since <when>`. Words are taken in this order. */
export type Specs = Readonly<Record<string, Spec>>;

type NoSpecs = Readonly<Record<never, Spec>>;

type Camel<Text extends string> = Text extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Text;

type NameOf<Flags> = Flags extends `${string}--no-${infer Name}`
  ? Camel<Name>
  : Flags extends `${string}--${infer Name} ${string}`
    ? Camel<Name>
    : Flags extends `${string}--${infer Name}`
      ? Camel<Name>
      : Flags extends `<${infer Name}>` | `[${infer Name}]`
        ? Camel<Name>
        : never;

type ValueOf<Flags, S> = S extends { readonly parse: Parse<infer T> }
  ? T
  : S extends readonly [string, Parse<infer T>]
    ? T
    : Flags extends `<${string}...>`
      ? readonly string[]
      : Flags extends `${string}<${string}` | `[${string}`
        ? string
        : Flags extends `--no-${string}`
          ? false
          : true;

type IsThere<Flags, S> = Flags extends `<${string}`
  ? true
  : S extends { readonly isRequired: true } | { readonly initial: unknown }
    ? true
    : false;

/** Distributes over flags: `--check <name>` and `--no-check` are one name with two values. */
type ValueIn<Takes extends Specs, Flags> = Flags extends keyof Takes ? ValueOf<Flags, Takes[Flags]> : never;

type RequiredIn<Takes extends Specs> = {
  [Flags in keyof Takes]: IsThere<Flags, Takes[Flags]> extends true ? Flags : never;
}[keyof Takes];

/** The values of words and options, by their names. */
export type Given<Takes extends Specs> = {
  readonly [Flags in RequiredIn<Takes> as NameOf<Flags>]: ValueIn<Takes, Flags>;
} & {
  readonly [Flags in Exclude<keyof Takes, RequiredIn<Takes>> as NameOf<Flags>]?: ValueIn<Takes, Flags>;
};

/** The subject of a command, such as a queue: the words and options that name it, and how it is found by them. */
export interface Subject<Found extends object> {
  readonly takes: Specs;
  /** In place of the words and options that commander would list. */
  readonly usage?: string;
  find(context: Context, words: readonly string[], options: never): Promise<Found>;
}

interface Described<Takes extends Specs, Found extends object> {
  readonly text: string;
  readonly on?: Subject<Found>;
  readonly takes?: Takes;
  readonly examples: readonly string[];
  /** Stands between the options and the examples of the help. */
  readonly more?: string | (() => string);
  /** The word may be left out. */
  readonly isDefault?: true;
  /** It calls no server, so that --url, --token-file and --json do not apply. */
  readonly isAlone?: true;
  /** A sentence about options that do not go together. */
  check?(given: Given<Takes>): string | undefined;
}

interface Running<Takes extends Specs, Found extends object> extends Described<Takes, Found> {
  run(context: Context, given: Given<Takes> & Found): Promise<void> | void;
}

interface Starting<Takes extends Specs> extends Described<Takes, object> {
  start(given: Given<Takes>, globals: GlobalOptions): Promise<void> | void;
}

interface Asking<Name extends OperationName, Takes extends Specs, Found extends object>
  extends Described<Takes, Found>,
    CallOptions {
  /** A sentence on standard error before the answer, for people. */
  about?(reply: AnswerOf<Name>): string;
  /** The command line that follows, for people. */
  next?(reply: AnswerOf<Name>, context: Context): string;
  /** The answer in words; with --json, it is printed as it is. */
  show(reply: AnswerOf<Name>, given: Given<Takes> & Found): string;
}

/** A command, or several by their words. */
export interface Row extends Partial<Described<Specs, object>> {
  readonly rows?: Readonly<Record<string, Row>>;
  readonly run?: (context: Context, given: never) => Promise<void> | void;
  readonly start?: (given: never, globals: GlobalOptions) => Promise<void> | void;
}

type Body<Name extends OperationName, All> = (given: All, context: Context) => BodyOf<Name> | Promise<BodyOf<Name>>;

export function row<const Takes extends Specs = NoSpecs, Found extends object = object>(
  running: Running<Takes, Found>,
): Row {
  return running as unknown as Row;
}

/** A command that works on this machine, or makes a context of its own. */
export function local<const Takes extends Specs = NoSpecs>(starting: Starting<Takes>): Row {
  return starting as unknown as Row;
}

/** A command that calls one operation. Without `body`, the values of its words and options are the body. */
export function commandFor<
  Name extends OperationName,
  const Takes extends Specs = NoSpecs,
  Found extends object = object,
>(
  operation: Name,
  asking: Asking<Name, Takes, Found>,
  ...[body]: Given<Takes> & Found extends BodyOf<Name>
    ? [body?: Body<Name, Given<Takes> & Found>]
    : [body: Body<Name, Given<Takes> & Found>]
): Row {
  const { show, about, next, timeoutMs, ...described } = asking;
  return row<Takes, Found>({
    ...described,
    run: async (context, given) => {
      const asked = body === undefined ? (given as BodyOf<Name>) : await body(given, context);
      const reply = await context.act(operation, asked, timeoutMs === undefined ? {} : { timeoutMs });
      if (about !== undefined && !context.isJson) say(about(reply));
      context.show(reply, () => show(reply, given));
      if (next !== undefined && !context.isJson) say(`Next: ${next(reply, context)}`);
    },
  });
}

/** One of the API's UPPER_SNAKE names, in any case, with hyphens or underscores. */
export function choice<const Name extends string>(text: string, names: readonly Name[]) {
  const words = names.map((name) => name.toLowerCase());
  const parse = (given: string): Name => {
    const name = names.find((each) => each === given.toUpperCase().replaceAll('-', '_'));
    if (name === undefined) throw new InvalidArgumentError(`Choose one of ${words.join(', ')}.`);
    return name;
  };
  return { text, parse, choices: words };
}

/** Defines a row on its command, and the rows below it. */
export function define(command: Command, row: Row): void {
  const { text, examples = [], more, rows = {}, on, takes, isAlone } = row;
  if (text !== undefined) command.description(text);
  if (on?.usage !== undefined) command.usage(on.usage);
  if (isAlone) command.configureHelp({ minWidthToWrap: 20, showGlobalOptions: false });
  for (const [flags, spec] of Object.entries({ ...on?.takes, ...takes })) addPart(command, flags, detailOf(spec));
  if (typeof more === 'string') command.addHelpText('after', `\n${more}`);
  else if (more !== undefined) command.addHelpText('after', () => `\n${more()}`);
  addExamples(command, examples);
  for (const [name, each] of Object.entries(rows))
    define(command.command(name, { isDefault: each.isDefault === true }), each);
  if (row.run !== undefined || row.start !== undefined) command.action((...all: unknown[]) => runRow(row, all));
}

function detailOf(spec: Spec): Detail {
  if (typeof spec === 'string') return { text: spec };
  return 'text' in spec ? spec : { text: spec[0], parse: spec[1] };
}

function addPart(command: Command, flags: string, { text, parse, choices, initial, isRequired, shown }: Detail): void {
  const part = isWord(flags)
    ? new Argument(flags, text)
    : new Option(flags, text).makeOptionMandatory(isRequired === true);
  if (choices !== undefined) part.choices([...choices]);
  if (parse !== undefined) part.argParser(parse as Parse<unknown> as (text: string, before: unknown) => unknown);
  if (initial !== undefined) part.default(initial);
  if (part instanceof Argument) {
    command.addArgument(part);
    return;
  }
  if (shown !== undefined) part.flags = shown || flags;
  command.addOption(part.hideHelp(shown === ''));
}

function isWord(flags: string): boolean {
  return /^[<[]/.test(flags);
}

/** Commander passes the words, an empty place for each that is missing, the options and the command. */
async function runRow({ on, takes = {}, check, run, start }: Row, all: readonly unknown[]): Promise<void> {
  const [options, command] = all.slice(-2) as [Readonly<Record<string, unknown>>, Command];
  const globals = command.optsWithGlobals<GlobalOptions>();
  const own = Object.keys(on?.takes ?? {}).filter(isWord).length;
  const words = Object.keys(takes).filter(isWord);
  const flags = Object.keys(takes).filter((each) => !isWord(each));
  const values = [
    ...words.map((each, index) => [nameOf(each), all[own + index]]),
    ...flags.map((each) => new Option(each).attributeName()).map((name) => [name, options[name]]),
  ];
  const given = Object.fromEntries(values.filter(([, value]) => value !== undefined));
  const trouble = check?.(given);
  if (trouble !== undefined) throw usageError(trouble);
  if (run === undefined) return start?.(given as never, globals);
  const context = createContext(globals);
  const named = all.slice(0, own).filter((word) => word !== undefined) as string[];
  await run(context, { ...given, ...(await on?.find(context, named, options as never)) } as never);
}

function nameOf(flags: string): string {
  return flags.slice(1, -1).replace(/-(\w)/g, (_match, letter: string) => letter.toUpperCase());
}

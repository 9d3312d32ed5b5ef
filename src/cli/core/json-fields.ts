import { usageError } from './exit.ts';

const FIELDS = /^[A-Za-z_]\w*(?:,[A-Za-z_]\w*)*$/;

/**
 * `--json number,state` and `--json=number,state` as `--json --json-fields=number,state`. A word without a comma counts
 * as a field only behind a command and its arguments: in `sluice --json queue list` it is the command.
 */
export function splitJsonFields(all: readonly string[]): string[] {
  // Behind `--` stands a command of somebody else.
  const end = all.includes('--') ? all.indexOf('--') : all.length;
  const argv = all.slice(0, end);
  const own = argv.flatMap((word, index) => {
    if (word.startsWith('--json=')) return ['--json', `--json-fields=${word.slice('--json='.length)}`];
    if (word === '--json' && areFields(argv, index + 1)) return ['--json', `--json-fields=${argv[index + 1]}`];
    return argv[index - 1] === '--json' && areFields(argv, index) ? [] : [word];
  });
  return [...own, ...all.slice(end)];
}

function areFields(argv: readonly string[], index: number): boolean {
  const word = argv[index] ?? '';
  if (!FIELDS.test(word)) return false;
  const next = argv[index + 1];
  const isLast = next === undefined || next.startsWith('-');
  const words = argv.slice(0, index - 1).filter((each) => !each.startsWith('-'));
  return word.includes(',') || (isLast && words.length > 1);
}

type Fields = Readonly<Record<string, unknown>>;

/** The fields that a reply can have, and those of the items of its lists, with commas between them. */
export interface KnownFields {
  readonly own: string;
  readonly items: string;
}

// SPEC W34
export function formatJson(reply: unknown, names: string | undefined, known: readonly KnownFields[] = []): string {
  return JSON.stringify(pickFields(reply, names, known), null, 2);
}

/** `known` is undefined if the names were checked before the act whose reply this is. */
export function pickFields(reply: unknown, names: string | undefined, known?: readonly KnownFields[]): unknown {
  if (names === undefined) return reply;
  const wanted = split(names);
  const own = new Set([...Object.keys(reply as Fields), ...(known ?? []).flatMap((each) => each.own.split(','))]);
  const list = wanted.some((name) => own.has(name)) ? undefined : listOf(reply as Fields);
  const items = (known ?? []).flatMap((each) => each.items.split(','));
  if (known !== undefined)
    checkNames(wanted, list === undefined ? own : new Set([...list.flatMap(Object.keys), ...items]));
  return list === undefined ? pick(reply as Fields, wanted) : list.map((item) => pick(item, wanted));
}

/** For an act: a name that is misspelt must be found before anything changes. */
export function checkFields(names: string | undefined, known: KnownFields): void {
  if (names === undefined) return;
  const [own, items] = [known.own, known.items].map((text) => text.split(','));
  const wanted = split(names);
  const fitting = [own, items].find((fields = []) => wanted.some((name) => fields.includes(name)));
  checkNames(wanted, new Set(fitting ?? [known.own, known.items].join(',').split(',')));
}

function split(names: string): string[] {
  if (!FIELDS.test(names)) throw usageError('--json takes names of fields with commas between them, such as a,b.');
  return names.split(',');
}

function listOf(reply: Fields): readonly Fields[] | undefined {
  const lists = Object.values(reply).filter((value) => Array.isArray(value) && value.every(isObject));
  return lists.length === 1 ? (lists[0] as readonly Fields[]) : undefined;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function pick(from: Fields, wanted: readonly string[]): Fields {
  return Object.fromEntries(wanted.map((name) => [name, from[name] ?? null]));
}

/** An answer may lack a field that it can have. Any other name is misspelt. */
function checkNames(wanted: readonly string[], known: ReadonlySet<string>): void {
  const names = [...known].filter(Boolean);
  const missing = wanted.filter((name) => !known.has(name));
  if (names.length === 0 || missing.length === 0) return;
  throw usageError(`The answer has no field ${missing.join(', ')}. It has: ${names.join(', ')}.`);
}

import { usageError } from './exit.ts';
import { say } from './terminal.ts';

const FIELDS = /^[A-Za-z_]\w*(?:,[A-Za-z_]\w*)*$/;

/**
 * `--json number,state` and `--json=number,state` as `--json --json-fields=number,state`. A word without a comma counts
 * as a field only behind a command and its arguments: in `sluice --json queue list` it is the command.
 */
export function splitJsonFields(argv: readonly string[]): string[] {
  return argv.flatMap((word, index) => {
    if (word.startsWith('--json=')) return ['--json', `--json-fields=${word.slice('--json='.length)}`];
    if (word === '--json' && areFields(argv, index + 1)) return ['--json', `--json-fields=${argv[index + 1]}`];
    return argv[index - 1] === '--json' && areFields(argv, index) ? [] : [word];
  });
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

/** The reply as JSON; with names, only these fields of it, or of each item of its list. */
// SPEC W34
export function formatJson(reply: unknown, names: string | undefined): string {
  if (names === undefined) return JSON.stringify(reply, null, 2);
  if (!FIELDS.test(names)) throw usageError('--json takes names of fields with commas between them, such as a,b.');
  const wanted = names.split(',');
  const list = listOf(reply as Fields, wanted);
  noteMissing(wanted, list ?? [reply as Fields]);
  return JSON.stringify(
    list === undefined ? pick(reply as Fields, wanted) : list.map((item) => pick(item, wanted)),
    null,
    2,
  );
}

/** The only list of objects in the reply; undefined if the reply itself has a wanted field. */
function listOf(reply: Fields, wanted: readonly string[]): readonly Fields[] | undefined {
  if (wanted.some((name) => name in reply)) return undefined;
  const lists = Object.values(reply).filter((value) => Array.isArray(value));
  return lists.length === 1 ? (lists[0] as readonly Fields[]) : undefined;
}

function pick(from: Fields, wanted: readonly string[]): Fields {
  return Object.fromEntries(wanted.map((name) => [name, from[name] ?? null]));
}

/** A field that this answer lacks may be a misspelt one: the server leaves out what it does not know. */
function noteMissing(wanted: readonly string[], items: readonly Fields[]): void {
  const known = new Set(items.flatMap((item) => Object.keys(item)));
  const missing = wanted.filter((name) => !known.has(name));
  if (items.length === 0 || missing.length === 0) return;
  say(`sluice: The answer has no field ${missing.join(', ')}. It has: ${[...known].join(', ')}.`);
}

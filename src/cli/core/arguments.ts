import { type Command, InvalidArgumentError } from 'commander';

/** Arguments and options that several commands share. */

export interface RepoRef {
  readonly host: string;
  readonly owner: string;
  readonly name: string;
}

export const REPO_TEXT = 'The repository as host/owner/name; the host of plain git is "local".';

export function parseRepo(text: string): RepoRef {
  const [host = '', ...rest] = text.split('/');
  const name = rest.pop() ?? '';
  const owner = rest.join('/');
  if (host === '' || owner === '' || name === '') {
    throw new InvalidArgumentError('Write the repository as host/owner/name, such as local/acme/app.');
  }
  return { host, owner, name };
}

export function formatRepo({ host, owner, name }: RepoRef): string {
  return `${host}/${owner}/${name}`;
}

export function parsePrNumber(text: string): number {
  const digits = /^#?(\d{1,10})$/.exec(text)?.[1];
  const number = Number(digits);
  if (digits === undefined || number < 1 || number > 4_294_967_295) {
    throw new InvalidArgumentError('Write the number of the pull request, such as 7.');
  }
  return number;
}

export function parseInteger(text: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

export function parseNumber(text: string): number {
  if (!/^-?\d{1,15}(?:\.\d{1,15})?$/.test(text)) throw new InvalidArgumentError('It must be a number.');
  return Number(text);
}

/** Checks the bounds here: the server's refusal would name a field that the user did not type. */
export function parseIntegerWithin(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = parseInteger(text);
    if (number < min || number > max) throw new InvalidArgumentError(`It must be from ${min} to ${max}.`);
    return number;
  };
}

/** `batchingMinSize` as `batching-min-size`. */
export function toFlag(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** For a schema that lists every name in both cases: each name once. */
export function upperNames({ enum: names = [] }: { readonly enum?: readonly string[] }): readonly string[] {
  return names.filter((name) => name === name.toUpperCase());
}

/** For a repeatable option; `false` comes from its --no- form. */
export function collect(value: string, before: readonly string[] | false | undefined): string[] {
  return [...(before || []), value];
}

export function collectRepos(text: string, before: readonly RepoRef[] | undefined): RepoRef[] {
  return [...(before ?? []), parseRepo(text)];
}

/** Like `collect`, for names without commas: `a,b` is two of them, and `''` an empty list. */
export function collectNames(value: string, before: readonly string[] | undefined): string[] {
  const names = value.split(',').map((name) => name.trim());
  return [...(before ?? []), ...names.filter((name) => name !== '')];
}

/** Every help ends with lines to copy. */
export function addExamples(command: Command, examples: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  $ ${line}`).join('\n')}`);
}

/** `30m`, also with s, h and d, in milliseconds. */
export function parseDuration(text: string): number {
  const [, count, unit = ''] = /^(\d{1,5})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (unit === 's' ? 1000 : (UNIT_MS[unit] ?? Number.NaN));
  if (!(ms > 0)) throw new InvalidArgumentError('Write a time such as 90s, 30m, 2h or 1d.');
  return ms;
}

const UNIT_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
  y: 365 * 86_400_000,
};

export const AT_TEXT = 'Show it as it was then: 10:22, 2h (also m, d, w) ago, or an instant.';

/** `90d` from now or ago, the next or last `17:00` of this computer's clock, or an ISO 8601 instant; as the API writes it. */
export function parseInstant(direction: 'future' | 'past'): (text: string) => string {
  return (text) => {
    const [, count, unit] = /^(\d{1,5})([mhdwy])$/.exec(text) ?? [];
    const distance = Number(count) * (UNIT_MS[unit ?? ''] ?? Number.NaN);
    const isDate = /^\d{4}-\d{2}-\d{2}(?:T|$)/.test(text);
    const relative = Date.now() + (direction === 'future' ? distance : -distance);
    const at = isDate ? Date.parse(text) : (findClockTime(text, direction) ?? relative);
    if (Number.isNaN(at))
      throw new InvalidArgumentError('Write 17:00, 90d (also m, h, w, y), or an instant such as 2027-01-31T00:00:00Z.');
    return new Date(at).toISOString();
  };
}

/** `17:00` */
function findClockTime(text: string, direction: 'future' | 'past'): number | undefined {
  const [, hour, minute] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  if (hour === undefined) return undefined;
  const date = new Date();
  const now = date.getTime();
  date.setHours(Number(hour), Number(minute), 0, 0);
  if (direction === 'future' && date.getTime() <= now) date.setDate(date.getDate() + 1);
  if (direction === 'past' && date.getTime() > now) date.setDate(date.getDate() - 1);
  return date.getTime();
}

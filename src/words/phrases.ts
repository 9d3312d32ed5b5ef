import { formatInstant, type Instant } from '../lib/clock.ts';

export interface NamedPr {
  readonly prNumber: number;
  readonly title?: string | undefined;
}

/** The details have the full list. */
const LISTED = 5;
const MAX_TITLE = 60;

/** `#2 "Add a cart"` */
export function prName({ prNumber, title }: NamedPr): string {
  const words = title?.replace(/\s+/g, ' ').trim() ?? '';
  if (words === '') return `#${prNumber}`;
  // By code points: a cut pair of surrogates would be no text.
  const letters = [...words];
  return `#${prNumber} "${letters.length > MAX_TITLE ? `${letters.slice(0, MAX_TITLE - 1).join('')}…` : words}"`;
}

export function listPrs(prs: readonly NamedPr[]): string {
  return listOf(prs.map(prName));
}

/** `#1, #2 and 3 more` */
export function listNumbers(prNumbers: readonly number[], limit?: number): string {
  return listOf(
    prNumbers.map((prNumber) => `#${prNumber}`),
    limit,
  );
}

/** `a, b and 3 more` */
export function listOf(names: readonly string[], limit = LISTED): string {
  const shown = names.slice(0, limit).join(', ');
  return names.length > limit ? `${shown} and ${names.length - limit} more` : shown;
}

/** `1 pull request`, `2 pull requests` */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

export function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** `its checks`, or the names of those that failed. */
export function checksOr(names: readonly string[] | undefined, other: string): string {
  return names === undefined || names.length === 0 ? other : listOf(names);
}

/** `The check ci`, `The checks ci, lint`: the begin of a sentence. A name like `test` alone would read as a verb. */
export function theChecks(names: readonly string[] | undefined): string {
  if (names === undefined || names.length === 0) return 'A required check';
  return `The ${names.length === 1 ? 'check' : 'checks'} ${listOf(names)}`;
}

/** `12:04 UTC` */
export function clockTime(instant: Instant): string {
  return `${formatInstant(instant).slice(11, 16)} UTC`;
}

/** `12:04 UTC`, with the day if it is another one. */
export function timeOf(instant: Instant, now: Instant): string {
  const text = formatInstant(instant);
  return text.slice(0, 10) === formatInstant(now).slice(0, 10) ? clockTime(instant) : minuteOf(instant);
}

/** `2026-09-17 12:04 UTC` */
export function minuteOf(instant: Instant): string {
  return `${formatInstant(instant).slice(0, 16).replace('T', ' ')} UTC`;
}

/** ` in a.ts, b.ts`, or nothing if the files are not known. */
export function inFiles(files: readonly string[] | undefined): string {
  return files === undefined || files.length === 0 ? '' : ` in ${listOf(files)}`;
}

export function shortSha(sha: string): string {
  return sha.slice(0, 12);
}

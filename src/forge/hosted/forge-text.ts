import type { Instant } from '../../lib/clock.ts';
import { printable } from '../candidate/pull-request-ref.ts';

const MAX_URL = 2_000;
const MAX_SUMMARY = 1_000;

export function instantOf(text: string | null | undefined): Instant | undefined {
  const instant = Date.parse(text ?? '');
  return Number.isNaN(instant) ? undefined : instant;
}

/** Undefined unless it is an address that a browser opens. */
export function linkOf(text: string | null): string | undefined {
  if (text === null || text.length > MAX_URL || !URL.canParse(text)) return undefined;
  return /^https?:$/.test(new URL(text).protocol) ? text : undefined;
}

export function summaryOf(text: string | null): string | undefined {
  const short = text?.slice(0, MAX_SUMMARY).toWellFormed().trim();
  return short === undefined || short === '' ? undefined : short;
}

/** Matches lower case on a line of its own. The first match counts. */
export function mergeTitleIn(body: string): string | undefined {
  const title = printable(/^merge-commit-title:[ \t]*(\S.*)$/m.exec(body)?.[1] ?? '');
  return title === '' ? undefined : title;
}

/** A cheap filter: only a comment that passes it is read and parsed. */
export function mayCommand(body: string): boolean {
  return /\/(sluice|trunk)\b/i.test(body);
}

const MAX_LENGTH = 300;

/** Shortens text from a forge to one line and removes anything that resembles a credential. */
// SPEC G18
export function bareText(text: string): string {
  return text
    .slice(0, 2_000)
    .replace(/-----BEGIN[\s\S]*/g, '[secret]')
    .replace(/\b(?:gh[a-z]_|github_pat_|v1\.)\w{16,}/g, '[secret]')
    .replace(/\bey[\w-]{10,}\.[\w-]+(?:\.[\w-]*)?/g, '[secret]')
    .replace(/(authorization["']?\s*[:=]?\s*["']?\w+\s+)\S+/gi, '$1[secret]')
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_LENGTH);
}

import { cleanName, hasLiteralMarkup, mayNeedCleaning, trimPlain } from './clean-text.ts';
import type { IssueList } from './issue-list.ts';
import type { AttemptMarker } from './junit-case.ts';
import type { JunitLimits } from './limits.ts';
import type { Attributes } from './tag-attributes.ts';

const DAY_MS = 86_400_000;

/**
 * Reads the attributes of one tag after another; `start` sets the tag's line and whether its values need no cleaning.
 */
export interface AttributeReader {
  start(line: number, isPlain: boolean): void;
  /** Null if it is absent or blank. */
  text(value: string | undefined): string | null;
  durationMs(attributes: Attributes): number | null;
  timestampAt(attributes: Attributes): number | null;
}

export function createAttributeReader(issues: IssueList, limits: JunitLimits): AttributeReader {
  let line = 1;
  let plain = true;
  let hasSaidLong = false;
  const cleaned = (value: string) => {
    if (!mayNeedCleaning(value)) return trimPlain(value, limits.textBytes);
    if (hasLiteralMarkup(value)) issues.add('bareMarkup', line);
    return cleanName(value, limits.textBytes);
  };
  return {
    start(tagLine, isPlain) {
      line = tagLine;
      plain = isPlain;
    },
    text(value) {
      if (value === undefined || value === '') return null;
      const text = plain ? trimPlain(value, limits.textBytes) : cleaned(value);
      return text === '' ? null : text;
    },
    durationMs(attributes) {
      const value = attributes.time;
      if (value === undefined || value === '') return null;
      const ms = parseDuration(value);
      if (ms === null) issues.add('badDuration', line, cleanName(value, 100));
      else if (ms > DAY_MS && !hasSaidLong) {
        hasSaidLong = true;
        issues.add('longDuration', line);
      }
      return ms;
    },
    timestampAt(attributes) {
      const value = attributes.timestamp;
      if (value === undefined || value === '') return null;
      const at = parseTimestamp(value);
      if (at === null) issues.add('badTimestamp', line, cleanName(value, 100));
      return at;
    },
  };
}

const PLAIN = /^\+?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/i;
/** Surefire before 2.20 groups digits: `1,234.567`. */
const GROUPED = /^\d{1,3}(?:,\d{3})+\.\d+$/;
/** A decimal comma; `1,234` is ambiguous and not guessed. */
const COMMA = /^0,\d+$/;

const MAX_LENGTH = 64;

/** Converts seconds to milliseconds, to the microsecond; null if the value is no duration. */
// SPEC J5
function parseDuration(value: string): number | null {
  const usual = parseUsual(value);
  if (usual !== -1) return usual;
  const text = value.trim();
  // The patterns backtrack on long rows of digits.
  if (text.length > MAX_LENGTH) return null;
  if (PLAIN.test(text)) return toMs(Number(text));
  if (GROUPED.test(text)) return toMs(Number(text.replaceAll(',', '')));
  if (COMMA.test(text)) return toMs(Number(text.replace(',', '.')));
  return null;
}

/**
 * `0.25`, up to 9 digits and microseconds, as in nearly every case. Parsing by hand takes a third of the time. -1 for
 * any other form.
 */
function parseUsual(value: string): number {
  if (value.length > 10) return -1;
  let digits = 0;
  let decimals = -1;
  for (let at = 0; at < value.length; at += 1) {
    const code = value.charCodeAt(at);
    if (code >= 0x30 && code <= 0x39) {
      digits = digits * 10 + code - 0x30;
      if (decimals >= 0) decimals += 1;
    } else if (code === 0x2e && decimals === -1 && at > 0) decimals = 0;
    else return -1;
  }
  if (decimals > 6 || value === '') return -1;
  return (digits * (MICROSECONDS[Math.max(decimals, 0)] as number)) / 1e3;
}

/** The value of the last digit in microseconds, by number of decimals. */
const MICROSECONDS = [1e6, 1e5, 1e4, 1e3, 100, 10, 1];

function toMs(seconds: number): number | null {
  const ms = Math.round(seconds * 1e6) / 1e3;
  return Number.isFinite(ms) ? ms : null;
}

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,12}))?)?\s?(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?$/i;
/** The form of HTTP dates, written by Mocha's own reporter. */
const HTTP = /^[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const MINUTE_MS = 60_000;

/** Milliseconds since 1970, UTC if no zone is given; null if it is no date. */
// SPEC J18
export function parseTimestamp(value: string): number | null {
  const text = value.trim();
  const iso = ISO.exec(text);
  if (iso !== null) {
    const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone = ''] = iso;
    const at = instant([year, month, day, hour, minute, second].map(Number));
    const offset = zoneMinutes(zone);
    if (at === null || offset === null) return null;
    return at + Math.floor(Number(`0.${fraction}0`) * 1000) - offset * MINUTE_MS;
  }
  const http = HTTP.exec(text);
  if (http === null) return null;
  const [, day, month = '', year, ...time] = http;
  return instant([Number(year), MONTHS.indexOf(month) + 1, Number(day), ...time.map(Number)]);
}

function instant(parts: readonly number[]): number | null {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && leap ? 29 : (DAYS[month - 1] ?? 0);
  // 60 is a leap second; it counts as the next minute.
  if (day < 1 || day > days || hour > 23 || minute > 59 || second > 60) return null;
  return ((daysSince1970(year, month, day) * 24 + hour) * 60 + minute) * MINUTE_MS + second * 1000;
}

/** Counts in years that begin in March, so that the leap day comes last. */
function daysSince1970(year: number, month: number, day: number): number {
  const y = month > 2 ? year : year - 1;
  const leapDays = Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400);
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  return y * 365 + leapDays + dayOfYear - 719_468;
}

function zoneMinutes(zone: string): number | null {
  if (!/^[+-]/.test(zone)) return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', '') || '0');
  if (hours > 18 || minutes > 59) return null;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

// Totals such as `retries` are absent: they count attempts and do not number this one.
const NAMES: ReadonlySet<string> = new Set([
  'attempt',
  'attemptnumber',
  'attemptindex',
  'retry',
  'retryindex',
  'retrynumber',
  'retryattempt',
  'rerun',
  'rerunindex',
  'runattempt',
]);
const MAX_ATTEMPT = 10_000;

/** Reads an attempt marker from `name` (an attribute, or a property perhaps with a prefix: `test.retry-index`). */
// SPEC J17
export function parseAttemptMarker(name: string, value: string): AttemptMarker | null {
  const last = name.slice(name.lastIndexOf('.') + 1);
  if (!NAMES.has(last.toLowerCase().replaceAll(/[-_ ]/g, ''))) return null;
  const text = value.trim();
  if (text === 'true') return { name, value: 1 };
  if (!/^\d{1,5}$/.test(text) || Number(text) > MAX_ATTEMPT) return null;
  return { name, value: Number(text) };
}

export function findAttemptMarker(attributes: Attributes): AttemptMarker | null {
  return (
    marker('attempt', attributes.attempt) ??
    marker('attempt_number', attributes.attempt_number) ??
    marker('retry', attributes.retry) ??
    marker('rerun', attributes.rerun)
  );
}

function marker(name: string, value: string | undefined): AttemptMarker | null {
  return value === undefined ? null : parseAttemptMarker(name, value);
}

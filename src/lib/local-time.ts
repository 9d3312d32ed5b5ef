import type { Instant } from './clock.ts';

/** Local times of time zones. A local time is the number of milliseconds that its digits would have in UTC. */
export type LocalTime = number;

const DIGITS = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})$/;
const DAY_MS = 86_400_000;

/** `2026-12-24T18:00`; undefined if there is no such day or minute. */
export function parseLocalTime(text: string): LocalTime | undefined {
  const [, ...groups] = DIGITS.exec(text) ?? [];
  const [year = Number.NaN, month = 0, day = 0, hour = 0, minute = 0] = groups.map(Number);
  const local = Date.UTC(year, month - 1, day, hour, minute);
  if (Number.isNaN(local)) return undefined;
  // Date.UTC moves the 31st of June to July; such a day does not exist.
  return formatLocalTime(local) === text ? local : undefined;
}

export function formatLocalTime(local: LocalTime): string {
  return new Date(local).toISOString().slice(0, 16);
}

/** An IANA name such as Europe/Berlin, or UTC. Offsets such as +02:00 keep no daylight saving time and are refused. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    formatterOf(name);
    return true;
  } catch {
    return false;
  }
}

/** Making a formatter takes longer than a thousand uses of it. */
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const key = timeZone.toLowerCase();
  const known = formatters.get(key);
  if (known !== undefined) return known;
  const part = '2-digit' as const;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone,
    ...{ calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23', era: 'short' },
    ...{ year: 'numeric', month: part, day: part, hour: part, minute: part, second: part },
  } as Intl.DateTimeFormatOptions);
  formatters.set(key, made);
  return made;
}

export function localTimeAt(timeZone: string, instant: Instant): LocalTime {
  const parts = formatterOf(timeZone).formatToParts(instant);
  const of = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((part) => part.type === type)?.value);
  const second = Math.floor(instant / 1_000) * 1_000;
  return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second')) + (instant - second);
}

/** Two where the clock is set back over it. Where it is set forward over it, the instant of that jump. */
export function instantsOf(timeZone: string, local: LocalTime): { readonly first: Instant; readonly last: Instant } {
  const offsetAt = (instant: Instant) => localTimeAt(timeZone, instant) - instant;
  // No offset is larger than a day: the instants sought lie between these two.
  const offsets = [offsetAt(local - DAY_MS), offsetAt(local + DAY_MS)];
  const shown = offsets.map((offset) => local - offset).filter((instant) => localTimeAt(timeZone, instant) === local);
  if (shown.length > 0) return { first: Math.min(...shown), last: Math.max(...shown) };
  const jump = findJump(timeZone, local, offsets);
  return { first: jump, last: jump };
}

/** The first instant at which the clock shows more than `local`. */
function findJump(timeZone: string, local: LocalTime, offsets: readonly number[]): Instant {
  let before = local - Math.max(...offsets);
  let after = local - Math.min(...offsets);
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (localTimeAt(timeZone, middle) < local) before = middle;
    else after = middle;
  }
  return after;
}

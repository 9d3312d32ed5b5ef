import type { Instant } from '../../lib/clock.ts';
import { instantsOf, isTimeZone, type LocalTime, localTimeAt, parseLocalTime } from '../../lib/local-time.ts';
import { present } from '../../lib/present.ts';

/** Times in which a queue lands nothing. All of this is a pure function of the freezes and an instant. */

export const FREEZE_REPEATS = ['NONE', 'WEEKLY'] as const;

export interface Freeze {
  readonly name: string;
  /** Local times of the time zone, such as 2026-12-24T18:00. A weekly freeze begins and ends at them in every week since. */
  readonly from: string;
  readonly until: string;
  readonly timeZone: string;
  readonly repeat: (typeof FREEZE_REPEATS)[number];
  readonly allowUrgent: boolean;
}

/** A time in which nothing lands, without a gap, with the name of a freeze that holds. */
export interface FrozenTime {
  readonly name: string;
  readonly since: Instant;
  readonly until: Instant;
}

export interface Frozen extends FrozenTime {
  /** Present while urgent entries do not land either. It may end before the others may land. */
  readonly urgent?: FrozenTime;
}

export const MAX_FREEZES = 100;
const MAX_NAME = 100;
const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;

/** A time without a gap is followed this far beyond the first end. Weekly freezes that cover it cover every week. */
const FOLLOWED_MS = 2 * WEEK_MS;

/** A sentence about the first problem; undefined if all of them can be kept. */
// SPEC Q14
export function problemOfFreezes(value: unknown): string | undefined {
  if (!Array.isArray(value) || value.length > MAX_FREEZES) return `must be a list of at most ${MAX_FREEZES} freezes`;
  const names = new Set<string>();
  for (const each of value) {
    const problem = problemOf(each);
    if (problem !== undefined) return problem;
    const { name } = each as Freeze;
    if (names.has(name)) return `has two freezes named ${JSON.stringify(name)}: names must differ`;
    names.add(name);
  }
  return undefined;
}

function problemOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return FREEZE_SENTENCE;
  const { name, from, until, timeZone, repeat, allowUrgent } = value as Readonly<Record<keyof Freeze, unknown>>;
  if (typeof name !== 'string' || name === '' || name.trim() !== name || name.length > MAX_NAME)
    return `must give every freeze a name of 1 to ${MAX_NAME} characters`;
  const its = `has a freeze ${JSON.stringify(name)} whose`;
  if (typeof timeZone !== 'string' || !isTimeZone(timeZone))
    return `${its} time zone ${JSON.stringify(timeZone)} is unknown: write an IANA name such as Europe/Berlin, or UTC`;
  if (!FREEZE_REPEATS.some((known) => known === repeat)) return `${its} repeat must be one of NONE, WEEKLY`;
  if (typeof allowUrgent !== 'boolean') return `${its} allowUrgent must be true or false`;
  const [begin, end] = [from, until].map((text) => (typeof text === 'string' ? parseLocalTime(text) : undefined));
  if (begin === undefined || end === undefined)
    return `${its} ${begin === undefined ? 'from' : 'until'} is not a local time such as 2026-12-24T18:00`;
  if (end <= begin) return `${its} until must be later than its from`;
  if (repeat === 'WEEKLY' && end - begin >= WEEK_MS) return `${its} repeat is WEEKLY and that lasts a week or longer`;
  return undefined;
}

const FREEZE_SENTENCE = 'must hold objects { name, from, until, timeZone, repeat, allowUrgent }';

interface Window extends FrozenTime {
  readonly allowUrgent: boolean;
}

/** By week of the instant. Converting local times is slow, and most events find the week of the last one. */
const kept = new WeakMap<readonly Freeze[], Map<number, readonly Window[]>>();
const MAX_KEPT = 16;

/** The windows that hold in the week of the instant, and at least the next one of each freeze after it. */
function windowsAround(freezes: readonly Freeze[], at: Instant): readonly Window[] {
  const weeks = kept.get(freezes) ?? new Map<number, readonly Window[]>();
  const week = Math.floor(at / WEEK_MS);
  const known = weeks.get(week);
  if (known !== undefined) return known;
  if (weeks.size >= MAX_KEPT) weeks.clear();
  const windows = freezes.flatMap((freeze) => windowsFrom(freeze, week * WEEK_MS));
  weeks.set(week, windows);
  kept.set(freezes, weeks);
  return windows;
}

/** A weekly freeze has one window for each week, and none before its first. */
// SPEC Q15
function windowsFrom(freeze: Freeze, at: Instant): Window[] {
  const { timeZone, repeat } = freeze;
  const from = parseLocalTime(freeze.from) ?? Number.NaN;
  const until = parseLocalTime(freeze.until) ?? Number.NaN;
  if (repeat === 'NONE') return [toWindow(freeze, from, until)];
  const present = Math.floor((localTimeAt(timeZone, at) - from) / WEEK_MS);
  const weeks = [-1, 0, 1, 2, 3].map((step) => Math.max(0, present) + step).filter((week) => week >= 0);
  return weeks.map((week) => toWindow(freeze, from + week * WEEK_MS, until + week * WEEK_MS));
}

/** A local time that the clock shows twice begins a freeze the first time and ends it the second time. */
// SPEC Q16
function toWindow({ name, timeZone, allowUrgent }: Freeze, from: LocalTime, until: LocalTime): Window {
  return { name, allowUrgent, since: instantsOf(timeZone, from).first, until: instantsOf(timeZone, until).last };
}

/** The freeze that holds at this instant, if one does. */
// SPEC Q17
export function frozenAt(freezes: readonly Freeze[], at: Instant): Frozen | undefined {
  const frozen = findTime(freezes, at, () => true);
  const urgent = frozen && findTime(freezes, at, ({ allowUrgent }) => !allowUrgent);
  return frozen && { ...frozen, ...present({ urgent }) };
}

/** Of several that hold, the one with the latest end. A window that begins before that end makes the time longer. */
function findTime(
  freezes: readonly Freeze[],
  at: Instant,
  counts: (window: Window) => boolean,
): FrozenTime | undefined {
  if (freezes.length === 0) return undefined;
  const windowsAt = (instant: Instant) => windowsAround(freezes, instant).filter(counts);
  const holding = windowsAt(at).filter(({ since, until }) => since <= at && at < until);
  const [first] = holding;
  if (first === undefined) return undefined;
  const { name, until } = holding.reduce((last, each) => (each.until > last.until ? each : last), first);
  return { name, since: Math.min(...holding.map(({ since }) => since)), until: follow(windowsAt, until) };
}

/** The first gap at or after `until`; `until` itself if there is none in sight. */
function follow(windowsAt: (instant: Instant) => readonly Window[], until: Instant): Instant {
  let end = until;
  while (end < until + FOLLOWED_MS) {
    const reaching = windowsAt(end).filter((window) => window.since <= end && window.until > end);
    if (reaching.length === 0) return end;
    end = Math.max(...reaching.map((window) => window.until));
  }
  return until;
}

/** When the next freeze begins or ends; undefined if none does any more. */
// SPEC Q18
export function nextFreezeChangeAt(freezes: readonly Freeze[], at: Instant): Instant | undefined {
  if (freezes.length === 0) return undefined;
  const later = windowsAround(freezes, at)
    .filter(({ since, until }) => since < until)
    .flatMap(({ since, until }) => [since, until])
    .filter((instant) => instant > at);
  return later.length === 0 ? undefined : Math.min(...later);
}

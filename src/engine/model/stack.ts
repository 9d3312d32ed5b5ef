import type { Instant } from '../../lib/clock.ts';
import { valuesOf } from '../../lib/int-map.ts';
import { walk } from '../../lib/sorted-list.ts';
import { WAITING } from './place.ts';
import type { Below, PrNumber } from './pull-request.ts';
import { type Entry, findEntry, isAdmitted, type Queue } from './queue.ts';
import { isReady, readinessOf } from './readiness.ts';

/**
 * A pull request may be built on others, the entries below it. It is never ahead of them, and no run tests it without
 * those that have not landed. An ancestor is no such entry: everybody can push one.
 */

const NONE: readonly never[] = [];

/** The pull requests that have to be in the target branch before it, or land with it. */
export function needsOf({ pr: { below } }: Pick<Entry, 'pr'>): readonly Below[] {
  return below === undefined ? NONE : below.filter(({ by, isMerged }) => by !== 'ancestor' && isMerged !== true);
}

/** The live entries directly below it. */
export function entriesBelow(queue: Queue, entry: Entry): readonly Entry[] {
  const needs = needsOf(entry);
  return needs.length === 0 ? NONE : needs.flatMap(({ number }) => findEntry(queue, number) ?? []);
}

/** The branch of the live entry that it is based on. Its base becomes the target branch shortly before that one lands. */
export function branchBelow(queue: Queue, entry: Entry): string | undefined {
  const base = needsOf(entry).find(({ by }) => by === 'base');
  return base && findEntry(queue, base.number)?.pr.headBranch;
}

/** The live entries directly above it. */
export function entriesAbove(queue: Queue, prNumber: PrNumber): readonly Entry[] {
  const isOnIt = (entry: Entry) => needsOf(entry).some(({ number }) => number === prNumber);
  return [...valuesOf(queue.entries)].filter((entry) => entry.pr.below !== undefined && isOnIt(entry));
}

/** Those that keep it from its admission: they are not in the line. */
// SPEC O30
export function missingBelow(queue: Queue, entry: Entry): readonly Below[] {
  return landsOneByOne(queue) ? needsOf(entry) : needsOf(entry).filter(({ number }) => !isInLine(queue, number));
}

/** The API of a forge squashes by the bases that it finds, and not by those of the tested commit. */
function landsOneByOne({ settings: { landingMode, mergeMethod } }: Queue): boolean {
  return landingMode === 'API' && mergeMethod !== 'MERGE_COMMIT';
}

function isInLine(queue: Queue, number: PrNumber): boolean {
  const entry = findEntry(queue, number);
  return entry !== undefined && isAdmitted(entry);
}

/** Those below it that wait for somebody. One that waits for its turn does not count. */
export function awayBelow(queue: Queue, entry: Entry): readonly Below[] {
  return needsOf(entry).filter(({ number }) => {
    const other = findEntry(queue, number);
    if (other === undefined || isAdmitted(other)) return other === undefined;
    return !isReady(readinessOf(queue, other)) || awayBelow(queue, other).length > 0;
  });
}

const HOUR_MS = 3_600_000;

/** Ready but for those below, of which one waits for somebody. */
export function waitingForBelow(queue: Queue): readonly Entry[] {
  const waiting: Entry[] = [];
  for (const prNumber of walk(queue.index.ready)) {
    const entry = findEntry(queue, prNumber);
    if (entry?.pr.below !== undefined && awayBelow(queue, entry).length > 0) waiting.push(entry);
  }
  return waiting;
}

export function lonelyUntil({ settings }: Queue, { unreadySince }: Entry): Instant {
  return unreadySince + (settings.notReadyTimeoutHours || 24) * HOUR_MS;
}

/** No run can test it with those below it: one is out of the line, or the settings changed after its admission. */
export function isHeldBelow(queue: Queue, entry: Entry): boolean {
  const below = entriesBelow(queue, entry);
  const isHeld = (other: Entry) =>
    other.place.kind === 'search' || other.place.kind === 'aside' || isHeldBelow(queue, other);
  return below.length > 0 && (landsOneByOne(queue) || below.some(isHeld));
}

/** Whether the group contains everything below the entry, or the line does. */
export function isCarriedBy(queue: Queue, group: readonly Entry[], entry: Entry, line: 'with line' | 'alone'): boolean {
  return entriesBelow(queue, entry).every(
    (other) => group.includes(other) || (line === 'with line' && other.place.kind === 'line'),
  );
}

/** Those of the entries, in order, that can be tested together. */
// SPEC O31
export function carriedOnly(queue: Queue, entries: readonly Entry[], line: 'with line' | 'alone'): readonly Entry[] {
  if (entries.every(({ pr }) => pr.below === undefined)) return entries;
  const carried: Entry[] = [];
  for (const entry of entries) if (isCarriedBy(queue, carried, entry, line)) carried.push(entry);
  return carried;
}

/** It keeps its place in the line. */
export function outOfLine(entry: Entry, now: Instant): Entry {
  return { ...entry, place: WAITING, admission: undefined, heldPlace: entry.admission, unreadySince: now };
}

/** A way from the entry down to itself, through live entries. */
// SPEC O32
export function findCycle(queue: Queue, entry: Pick<Entry, 'prNumber' | 'pr'>): readonly PrNumber[] | undefined {
  const seen = new Set<PrNumber>();
  const search = (path: readonly PrNumber[], below: readonly Below[]): readonly PrNumber[] | undefined => {
    for (const { number } of below) {
      if (number === entry.prNumber) return [...path, number];
      const next = seen.has(number) ? undefined : findEntry(queue, number);
      seen.add(number);
      const found = next && search([...path, number], needsOf(next));
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return search([entry.prNumber], needsOf(entry));
}

import { listOf, valuesOf } from '../../lib/int-map.ts';
import { byPlace, type Candidate, compositionOf, isOfLine, type Member, type Purpose } from './candidate.ts';
import type { FrozenTime } from './freeze.ts';
import { orderKey } from './priority.ts';
import type { PrNumber } from './pull-request.ts';
import { type Entry, type EntryState, findLiveMember, isAdmitted, type Queue } from './queue.ts';
import type { Search } from './search.ts';

interface Roster {
  readonly all: readonly Candidate[];
  readonly line: readonly Candidate[];
  /** By the number of the search. */
  readonly searched: ReadonlyMap<number, readonly Candidate[]>;
}

const NONE: readonly Candidate[] = [];

/** The map of candidates is immutable, so its sorted lists can be cached by identity. */
const rosters = new WeakMap<Queue['candidates'], Roster>();

function rosterOf({ candidates }: Queue): Roster {
  const known = rosters.get(candidates);
  if (known !== undefined) return known;
  const all = listOf(candidates).sort(byPlace);
  const line = all.filter(isOfLine);
  const others = all.length === line.length ? NONE : all.filter((candidate) => !isOfLine(candidate));
  const searched = Map.groupBy(others, ({ purpose }) => (purpose.kind === 'bisection' ? purpose.bisection : 0));
  const roster = { all, line, searched };
  rosters.set(candidates, roster);
  return roster;
}

/** All live candidates, in the order of the line. */
export function candidatesOf(queue: Queue): readonly Candidate[] {
  return rosterOf(queue).all;
}

/** The live candidates of the line, front first. A candidate comes after everything it is built on. */
export function lineOf(queue: Queue): readonly Candidate[] {
  return rosterOf(queue).line;
}

/** The live candidates with another purpose, oldest first. */
export function candidatesFor(queue: Queue, kind: Exclude<Purpose['kind'], 'main'>): readonly Candidate[] {
  const { all, line } = rosterOf(queue);
  return all.length === line.length ? NONE : all.filter(({ purpose }) => purpose.kind === kind);
}

/** The live runs of a search, oldest first. A run that replaced another has the age of that one. */
export function runsOfSearch(queue: Queue, { number }: Pick<Search, 'number'>): readonly Candidate[] {
  return rosterOf(queue).searched.get(number) ?? NONE;
}

/** The members that have not landed. A member that left in another way has ended the candidate. */
export function unlanded(queue: Queue, members: readonly Member[]): Entry[] {
  const entries: Entry[] = [];
  for (const member of members) {
    const entry = findLiveMember(queue, member);
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

/** Entries that landed after the base of a candidate was chosen and are not in it. It shares no target with them. */
// SPEC C4
export function composedWithOf({ landings }: Queue, candidate: Candidate): readonly PrNumber[] {
  const { base, purpose } = candidate;
  if (purpose.kind !== 'main' && purpose.kind !== 'repair') return [];
  const later = landings.filter(({ ordinal }) => ordinal > base.ordinal);
  if (later.length === 0) return [];
  const inside = new Set(compositionOf(candidate).map(({ submission }) => submission));
  return later.flatMap(({ prNumber, submission }) => (inside.has(submission) ? [] : prNumber));
}

/** The state of an entry that follows from the state of its candidate. */
export function stateUnder(candidate: Candidate): EntryState {
  switch (candidate.state) {
    case 'building':
    case 'testing':
      return 'TESTING';
    case 'passed':
      return 'TESTS_PASSED';
    case 'failed':
      return 'PENDING_FAILURE';
    default:
      return 'PENDING';
  }
}

/** The admitted entries in the order in which they are tested and land. Those in candidates of the line come first. */
// SPEC O1
export function admittedInOrder(queue: Queue): Entry[] {
  const inLine = lineOf(queue).flatMap((candidate) => unlanded(queue, candidate.members));
  const seen = new Set(inLine);
  const others = [...valuesOf(queue.entries)].filter((entry) => isAdmitted(entry) && !seen.has(entry));
  return [...inLine, ...others.sort(byOrderKey)];
}

/** The entries that wait for admission, in the order in which they would be admitted. */
export function notReadyInOrder(queue: Queue): Entry[] {
  return [...valuesOf(queue.entries)].filter((entry) => !isAdmitted(entry)).sort(byOrderKey);
}

/** All live entries: those under test, passed or held, then pending ones, then those not ready. */
// SPEC Q8
export function entriesInOrder(queue: Queue): Entry[] {
  const admitted = admittedInOrder(queue);
  return [
    ...admitted.filter(({ state }) => state !== 'PENDING'),
    ...admitted.filter(({ state }) => state === 'PENDING'),
    ...notReadyInOrder(queue),
  ];
}

function byOrderKey(a: Entry, b: Entry): number {
  return orderKey(a) - orderKey(b);
}

/** The freeze that keeps an entry from landing. */
// SPEC Q19
export function freezeOf({ frozen }: Pick<Queue, 'frozen'>, { priority }: Entry): FrozenTime | undefined {
  return priority.value === 0 ? frozen?.urgent : frozen;
}

/** A freeze keeps the candidate from landing if it keeps one of the entries that would land with it. */
export function isFrozen(queue: Queue, candidate: Candidate): boolean {
  if (queue.frozen === undefined) return false;
  return unlanded(queue, compositionOf(candidate)).some((entry) => freezeOf(queue, entry) !== undefined);
}

/** Only urgent entries may land now, so they are tested without others. */
export function isOnlyUrgentLanding({ frozen }: Pick<Queue, 'frozen'>): boolean {
  return frozen !== undefined && frozen.urgent === undefined;
}

import { walk } from '../lib/sorted-list.ts';
import type { Bisection, Chain } from './bisection.ts';
import { runsOf } from './bisection-runs.ts';
import { type Candidate, isRunAgain, type Member } from './candidate.ts';
import { orderKey } from './entry-index.ts';
import { Footprint, targetsOf } from './footprint.ts';
import { confirmationsNeeded } from './learned.ts';
import type { PrNumber } from './pull-request.ts';
import { type Entry, findEntry, type Queue } from './queue.ts';
import { admittedInOrder, lineOf, unlanded } from './roster.ts';

/** A length that was or is under test. */
export interface Mark {
  readonly length: number;
  readonly runs: readonly Candidate[];
}

/** Chains and candidates are immutable, so their marks can be cached by identity. */
const marked = new WeakMap<readonly Chain[], { readonly of: Queue['candidates']; readonly marks: readonly Mark[] }>();

/** The lengths with a run, shortest first. */
export function marksOf(queue: Queue, chains: readonly Chain[]): readonly Mark[] {
  const known = marked.get(chains);
  if (known?.of === queue.candidates) return known.marks;
  let length = 0;
  const marks = (chains[0]?.parts ?? []).flatMap((part) => {
    length += part.members.length;
    return part.candidates.length === 0 ? [] : { length, runs: runsOf(queue, part) };
  });
  marked.set(chains, { of: queue.candidates, marks });
  return marks;
}

/** The shortest prefix that is known to fail. A failure whose checks run again is open. */
// SPEC K8
export function shortestFailure(marks: readonly Mark[]): Mark | undefined {
  return marks.find(({ runs }) => runs.some(isSettledFailure));
}

function isSettledFailure(run: Candidate): boolean {
  return run.state === 'failed' && !isRunAgain(run);
}

const members = new WeakMap<Bisection, readonly Member[]>();

export function membersOf(search: Bisection): readonly Member[] {
  const known = members.get(search);
  if (known !== undefined) return known;
  const all = search.chains.flatMap(({ parts }) => parts).flatMap((part) => part.members);
  members.set(search, all);
  return all;
}

/** How many failures of the first member count: those on this base, and those on bases that the search has left. */
export function failuresOf(queue: Queue, { chains, accused }: Bisection): number {
  const [first] = marksOf(queue, chains);
  const here = first?.length === 1 ? first.runs.filter(isSettledFailure).length : 0;
  return here + (accused?.failures ?? 0);
}

/** How many more failures it takes to accuse the first member. */
export function failuresMissing(queue: Queue, search: Bisection): number {
  return 1 + confirmationsNeeded(queue.learned) - failuresOf(queue, search);
}

/** Its only member has failed often enough. It waits for what was ahead of it, or for a last run on the head. */
export function isAccused(queue: Queue, search: Bisection): boolean {
  return search.accused !== undefined && failuresMissing(queue, search) <= 0;
}

/** An entry that was ahead when the search began is still there. Accused entries do not count. */
// SPEC K11
export function isBehindOthers(queue: Queue, search: Bisection, entry: Entry): boolean {
  const wasAhead = aheadTest(queue, search, entry);
  const key = orderKey(entry);
  // Sorted by the same key, so most searches are decided by the first entry.
  for (const prNumber of walk(queue.index.pending)) {
    const other = findEntry(queue, prNumber);
    if (other === undefined || orderKey(other) > key) break;
    if (wasAhead(other)) return true;
  }
  if ([...walk(queue.index.aside)].some((prNumber) => isEntry(queue, prNumber, wasAhead))) return true;
  const isMemberAhead = (member: Member) => isEntry(queue, member.prNumber, wasAhead);
  return (
    lineOf(queue).some(({ members }) => members.some(isMemberAhead)) ||
    queue.bisections.some((other) => !isAccused(queue, other) && membersOf(other).some(isMemberAhead))
  );
}

function aheadTest(queue: Queue, { admissions }: Bisection, entry: Entry): (other: Entry) => boolean {
  const key = orderKey(entry);
  const footprint = new Footprint().add(targetsOf(queue, entry));
  return (other) =>
    orderKey(other) < key &&
    (other.admission?.ordinal ?? 0) <= admissions &&
    footprint.overlaps(targetsOf(queue, other));
}

/** The entries that an accused entry waits for, in queue order. */
export function entriesAhead(queue: Queue, search: Bisection, entry: Entry): readonly Entry[] {
  const wasAhead = aheadTest(queue, search, entry);
  const accused = new Set(queue.bisections.filter((other) => isAccused(queue, other)).map(({ number }) => number));
  return admittedInOrder(queue).filter((other) => wasAhead(other) && !accused.has(other.bisection ?? 0));
}

function isEntry(queue: Queue, prNumber: PrNumber, is: (entry: Entry) => boolean): boolean {
  const entry = findEntry(queue, prNumber);
  return entry !== undefined && is(entry);
}

/** Accused entries are decided in queue order. One that is cleared may be what those behind it need. */
// SPEC K30
export function isBehindAccused(queue: Queue, search: Bisection, entry: Entry): boolean {
  const wasAhead = aheadTest(queue, search, entry);
  return queue.bisections.some(
    (other) => other !== search && isAccused(queue, other) && unlanded(queue, membersOf(other)).some(wasAhead),
  );
}

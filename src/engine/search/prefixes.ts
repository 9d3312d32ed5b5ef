import { walk } from '../../lib/sorted-list.ts';
import { aheadTest } from '../line/ahead.ts';
import { type Mark, marksOf, shortestFailure } from '../line/marks.ts';
import { isAwaitedQuestion } from '../line/questions.ts';
import { isUnderTest, type Member } from '../model/candidate.ts';
import { chancesOf, flakeChance } from '../model/learned.ts';
import { searchNumberOf } from '../model/place.ts';
import { orderKey } from '../model/priority.ts';
import type { PrNumber } from '../model/pull-request.ts';
import { type Entry, findEntry, type Queue } from '../model/queue.ts';
import { admittedInOrder, lineOf, unlanded } from '../model/roster.ts';
import type { Search } from '../model/search.ts';
import { entriesBelow } from '../model/stack.ts';
import type { Proposal } from '../model/strategy.ts';
import { doubtOf, isOpen } from './doubt.ts';

/** Its only member has failed often enough. It waits for what was ahead of it, or for the last runs on the head. */
export function isAccused(queue: Queue, search: Search): boolean {
  return search.accused !== undefined && (search.accused.isLast || doubtOf(queue, search).missing <= 0);
}

/** An entry that was ahead when the search began is still there. Accused entries do not count, but for those below it. */
// SPEC K11
export function isBehindOthers(queue: Queue, search: Search, entry: Entry): boolean {
  if (entriesBelow(queue, entry).length > 0) return true;
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
    queue.bisections.some((other) => !isAccused(queue, other) && other.members.some(isMemberAhead))
  );
}

/** The entries that an accused entry waits for, in queue order. */
export function entriesAhead(queue: Queue, search: Search, entry: Entry): readonly Entry[] {
  const wasAhead = aheadTest(queue, search, entry);
  const accused = new Set(queue.bisections.filter((other) => isAccused(queue, other)).map(({ number }) => number));
  const below = entriesBelow(queue, entry);
  const isLeftOut = (other: Entry) => accused.has(searchNumberOf(other) ?? 0) && !below.includes(other);
  return admittedInOrder(queue).filter((other) => wasAhead(other) && !isLeftOut(other));
}

function isEntry(queue: Queue, prNumber: PrNumber, is: (entry: Entry) => boolean): boolean {
  const entry = findEntry(queue, prNumber);
  return entry !== undefined && is(entry);
}

/** Accused entries are decided in queue order. One that is cleared may be what those behind it need. */
// SPEC K30
export function isBehindAccused(queue: Queue, search: Search, entry: Entry): boolean {
  const wasAhead = aheadTest(queue, search, entry);
  return queue.bisections.some(
    (other) => other !== search && isAccused(queue, other) && unlanded(queue, other.members).some(wasAhead),
  );
}

/** The run that a search needs now: its next prefix if no run is under way, and the confirmations of a failure. */
// SPEC K6
export function proposePrefixes(queue: Queue, search: Search): Proposal[] {
  const { number } = search;
  const marks = marksOf(queue, search);
  const failed = shortestFailure(marks);
  const isRunning = marks.some(({ runs }) => runs.some((run) => isUnderTest(run) || run.state === 'waiting'));
  const whole = search.members.length;
  if (failed === undefined) return isRunning ? [] : [{ kind: 'prefix', search: number, length: whole }];
  if (isAwaitingQuestion(queue, search)) return [];
  if (failed.length === 1) return confirm(queue, search, failed);
  if (isRunning) return [];
  if (isLikelyFlake(queue, search, failed))
    return [{ kind: 'prefix', search: number, length: failed.length, isAgain: true }];
  const split = bestSplit(queue, search);
  return split === undefined ? [] : [{ kind: 'prefix', search: number, length: split.length }];
}

/** Once the reports of its failure are read, probes may search further. */
export function isAwaitingQuestion(queue: Queue, search: Search): boolean {
  if (search.asking !== undefined) return false;
  return shortestFailure(marksOf(queue, search))?.runs.some((run) => isAwaitedQuestion(queue, run)) === true;
}

/** One after the other, so that the result of each can end the matter. */
// SPEC V66
function confirm(queue: Queue, search: Search, { runs }: Mark): Proposal[] {
  if (runs.some((run) => isOpen(queue, run)) || doubtOf(queue, search).missing <= 0) return [];
  return [{ kind: 'prefix', search: search.number, length: 1, isAgain: true }];
}

/** A second run of the same prefix says more than a shorter one. It is repeated once. */
function isLikelyFlake(queue: Queue, search: Search, { length, runs }: Mark): boolean {
  if (runs.length > 1) return false;
  const sound = chancesFor(queue, search)
    .slice(0, length)
    .reduce((product, chance) => product * (1 - chance), 1);
  const flake = flakeChance(queue.learned);
  const isFlake = (flake * sound) / (flake * sound + (1 - sound));
  return isFlake * Math.log2(length + 1) > 1;
}

function chancesFor(queue: Queue, search: Search): readonly number[] {
  return chancesOf(queue, unlanded(queue, search.members));
}

export interface Split {
  readonly length: number;
  /** How likely the first culprit is between the neighbouring lengths under test. */
  readonly mass: number;
}

/**
 * The length that halves the likeliest interval. With one run at a time this is a binary search weighted by
 * probability, with r runs a search in r + 1 parts.
 */
// SPEC K5
export function bestSplit(queue: Queue, search: Search): Split | undefined {
  const marks = marksOf(queue, search);
  const failed = shortestFailure(marks);
  const chances = chancesFor(queue, search);
  const end = failed?.length ?? chances.length;
  const upTo = culpritBefore(chances.slice(0, end));
  const total = failed === undefined ? 1 : (upTo[end] ?? 1);
  const lengths = [0, ...marks.map(({ length }) => length).filter((length) => length < end), end];
  let best: { readonly from: number; readonly to: number; readonly mass: number } | undefined;
  for (const [index, from] of lengths.slice(0, -1).entries()) {
    const to = lengths[index + 1] as number;
    const mass = ((upTo[to] ?? 0) - (upTo[from] ?? 0)) / total;
    if (to - from > 1 && mass > (best?.mass ?? 0)) best = { from, to, mass };
  }
  return best && { length: halfOf(upTo, best.from, best.to), mass: best.mass };
}

/** For each length, how likely a culprit is among the first members. */
function culpritBefore(chances: readonly number[]): readonly number[] {
  const upTo = [0];
  let sound = 1;
  for (const chance of chances) {
    sound *= 1 - chance;
    upTo.push(1 - sound);
  }
  return upTo;
}

function halfOf(upTo: readonly number[], from: number, to: number): number {
  const half = ((upTo[from] ?? 0) + (upTo[to] ?? 0)) / 2;
  let best = from + 1;
  for (let length = from + 1; length < to; length += 1) {
    if (Math.abs((upTo[length] ?? 0) - half) < Math.abs((upTo[best] ?? 0) - half)) best = length;
  }
  return best;
}

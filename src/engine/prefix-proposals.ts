import type { Bisection } from './bisection.ts';
import { isUnderTest } from './candidate.ts';
import { chancesOf, flakeChance } from './learned.ts';
import { failuresMissing, isAccused, type Mark, marksOf, membersOf, shortestFailure } from './prefixes.ts';
import type { Queue } from './queue.ts';
import { unlanded } from './roster.ts';
import type { Proposal } from './strategy.ts';

/** The run that a search needs now: its next prefix if no run is under way, and the confirmations of a failure. */
// SPEC K6
export function proposePrefixes(queue: Queue, search: Bisection): Proposal[] {
  const { number, chains } = search;
  const marks = marksOf(queue, chains);
  const failed = shortestFailure(marks);
  const isRunning = marks.some(({ runs }) => runs.some((run) => isUnderTest(run) || run.state === 'waiting'));
  const whole = membersOf(search).length;
  if (failed === undefined) return isRunning ? [] : [{ kind: 'prefix', search: number, length: whole }];
  if (failed.length === 1) return isAccused(queue, search) ? [] : confirm(queue, search, failed);
  if (isRunning) return [];
  if (isLikelyFlake(queue, search, failed))
    return [{ kind: 'prefix', search: number, length: failed.length, isAgain: true }];
  const split = bestSplit(queue, search);
  return split === undefined ? [] : [{ kind: 'prefix', search: number, length: split.length }];
}

function confirm(queue: Queue, search: Bisection, { runs }: Mark): Proposal[] {
  const missing = failuresMissing(queue, search) - runs.filter(isUnderTest).length;
  const again = { kind: 'prefix', search: search.number, length: 1, isAgain: true } as const;
  return Array.from({ length: Math.max(0, missing) }, () => again);
}

/** A second run of the same prefix says more than a shorter one. It is repeated once. */
function isLikelyFlake(queue: Queue, search: Bisection, { length, runs }: Mark): boolean {
  if (runs.length > 1) return false;
  const sound = chancesFor(queue, search)
    .slice(0, length)
    .reduce((product, chance) => product * (1 - chance), 1);
  const flake = flakeChance(queue.learned);
  const isFlake = (flake * sound) / (flake * sound + (1 - sound));
  return isFlake * Math.log2(length + 1) > 1;
}

function chancesFor(queue: Queue, search: Bisection): readonly number[] {
  return chancesOf(queue, unlanded(queue, membersOf(search)));
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
export function bestSplit(queue: Queue, search: Bisection): Split | undefined {
  const marks = marksOf(queue, search.chains);
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

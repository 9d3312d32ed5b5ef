import { type Candidate, isOfLine, isUnderTest } from '../model/candidate.ts';
import { policyOf } from '../model/policy.ts';
import type { Queue } from '../model/queue.ts';
import { candidatesOf } from '../model/roster.ts';

/** How many candidates of the line may still start. */
// SPEC C3
export function freeSlots(queue: Queue): number {
  const isSharing = policyOf(queue).bisectionConcurrency === 0;
  const isCounted = (candidate: Candidate) => isOfLine(candidate) || (isSharing && isOfSearch(candidate));
  return queue.settings.concurrency - countUnderTest(queue, isCounted);
}

// SPEC B8
export function freeSearchSlots(queue: Queue): number {
  const { bisectionConcurrency } = policyOf(queue);
  if (bisectionConcurrency === 0) return freeSlots(queue);
  return (bisectionConcurrency ?? queue.settings.concurrency) - countUnderTest(queue, isOfSearch);
}

/** The head and a repair have a slot of their own. */
export function freeSlotsFor(queue: Queue, candidate: Candidate): number {
  const { kind } = candidate.purpose;
  if (kind === 'head' || kind === 'repair') return 1;
  return kind === 'bisection' ? freeSearchSlots(queue) : freeSlots(queue);
}

function countUnderTest(queue: Queue, isCounted: (candidate: Candidate) => boolean): number {
  let taken = 0;
  for (const candidate of candidatesOf(queue)) if (isUnderTest(candidate) && isCounted(candidate)) taken += 1;
  return taken;
}

function isOfSearch({ purpose }: Candidate): boolean {
  return purpose.kind === 'bisection';
}

/** The line holds this many entries, or as many as can be under test at once if that is more. */
const LINE_LIMIT = 500;

export function lineLimit(queue: Queue): number {
  const { batch, batchingMinSize } = policyOf(queue);
  return Math.max(LINE_LIMIT, queue.settings.concurrency * (batch ? batchingMinSize : 1));
}

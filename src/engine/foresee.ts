import { type Candidate, isUnderTest } from './model/candidate.ts';
import type { PullRequestSubmitted } from './model/event.ts';
import { candidateNumberOf } from './model/place.ts';
import { type Entry, findCandidate, findEntry, type Queue } from './model/queue.ts';
import { candidatesOf, entriesInOrder } from './model/roster.ts';
import type { Outcome } from './model/work.ts';
import { step } from './step.ts';

/** A submission that is not applied, and what it would change. */
export interface Foreseen {
  readonly outcome: Outcome;
  readonly before: Queue;
  readonly after: Queue;
  readonly was: Entry | undefined;
  /** The entry after it. Undefined if it would leave at once. */
  readonly entry: Entry | undefined;
  /** Runs in progress that it would end. */
  readonly interrupted: readonly Candidate[];
  /** Other entries that were in a run and would be in another one, or in none. */
  readonly testedAgain: readonly Entry[];
}

/** Steps a copy of the queue. What it tells is what happens, as long as the queue does not change in between. */
// SPEC O18
export function foresee(before: Queue, event: PullRequestSubmitted): Foreseen {
  const { queue: after, outcome } = step(before, event);
  const { number } = event.pr;
  const isRunning = (candidate: Candidate | undefined) => candidate !== undefined && isUnderTest(candidate);
  const isMoved = (entry: Entry) => {
    const now = findEntry(after, entry.prNumber);
    if (entry.prNumber === number || entry.place.kind !== 'line') return false;
    return now === undefined || candidateNumberOf(now) !== entry.place.candidate;
  };
  return {
    outcome,
    before,
    after,
    was: findEntry(before, number),
    entry: findEntry(after, number),
    interrupted: candidatesOf(before).filter((run) => isRunning(run) && !isRunning(findCandidate(after, run.number))),
    testedAgain: entriesInOrder(before)
      .filter(isMoved)
      .flatMap(({ prNumber }) => findEntry(after, prNumber) ?? []),
  };
}

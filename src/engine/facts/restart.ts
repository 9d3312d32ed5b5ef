import { retestHeld } from '../evidence/hold.ts';
import { replaceCandidate } from '../line/test-run.ts';
import { type Candidate, hasMember, isOfLine } from '../model/candidate.ts';
import type { TestsRestartRequested } from '../model/event.ts';
import { type Because, type Entry, ownRunOf, type Queue } from '../model/queue.ts';
import { candidatesFor } from '../model/roster.ts';
import type { Work } from '../model/work.ts';

/** Restarts the tests of an entry. The whole candidate that tests it runs again in its place. */
// SPEC C12, E7
export function restartTests(work: Work, entry: Entry, { actor, by }: TestsRestartRequested): void {
  const own = findTestOf(work.queue, entry);
  if (own === undefined) return;
  const isByPerson = by === 'person';
  const reason = isByPerson ? 'TESTS_RESTARTED_BY_USER' : 'TESTS_RESTARTED_BY_API_REQUEST';
  const because: Because = { reason, actor };
  const isHeld = work.queue.hold !== undefined && own.state === 'failed' && isOfLine(own);
  if (!isHeld) replaceCandidate(work, own, because, 0);
  if (work.queue.hold !== undefined) retestHeld(work, because);
}

/** An operator set the queue to RUNNING: the hold ends, and everything that failed during it is tested again. */
export function resumeHeld(work: Work, actor: string): void {
  if (work.queue.hold !== undefined) retestHeld(work, { reason: 'TESTS_RESTARTED_BY_USER', actor });
}

function findTestOf(queue: Queue, entry: Entry): Candidate | undefined {
  const isIn = (candidate: Candidate) => hasMember(candidate, entry.prNumber);
  return ownRunOf(queue, entry) ?? candidatesFor(queue, 'bisection').find(isIn);
}

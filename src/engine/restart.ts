import { type Candidate, hasMember } from './candidate.ts';
import type { TestsRestartRequested } from './event.ts';
import { type Because, type Entry, findCandidate, type Queue } from './queue.ts';
import { forgetSuspicion } from './red-target.ts';
import { candidatesFor, lineOf } from './roster.ts';
import { replaceCandidate } from './test-run.ts';
import type { Work } from './work.ts';

/** Somebody wants the tests of an entry from the start: the whole candidate that tests it runs again, in its place. */
export function restartTests(work: Work, entry: Entry, { actor, by }: TestsRestartRequested): void {
  const own = findTestOf(work.queue, entry);
  if (own === undefined) return;
  const isByPerson = by === 'person';
  const because: Because = { reason: isByPerson ? 'TESTS_RESTARTED_BY_USER' : 'TESTS_RESTARTED_BY_API_REQUEST' };
  replaceCandidate(work, own, because, 0, actor);
  if (work.queue.redTarget !== undefined) retestHeld(work, because, actor);
}

/** An operator sets the queue to RUNNING: whatever was held because the target is red is tested again. */
export function resumeAfterRed(work: Work, actor: string): void {
  if (work.queue.redTarget !== undefined) retestHeld(work, { reason: 'TESTS_RESTARTED_BY_USER' }, actor);
}

function retestHeld(work: Work, because: Because, actor: string): void {
  forgetSuspicion(work, because.reason);
  for (const candidate of [...lineOf(work.queue), ...candidatesFor(work.queue, 'bisection')]) {
    if (candidate.state === 'failed') replaceCandidate(work, candidate, because, 0, actor);
  }
}

function findTestOf(queue: Queue, entry: Entry): Candidate | undefined {
  if (entry.candidate !== undefined) return findCandidate(queue, entry.candidate);
  return candidatesFor(queue, 'bisection').find((candidate) => hasMember(candidate, entry.prNumber));
}

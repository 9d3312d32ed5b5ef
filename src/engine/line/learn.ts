import type { Candidate, Failure } from '../model/candidate.ts';
import { withDecision, withPass } from '../model/learned.ts';
import type { Entry } from '../model/queue.ts';
import { candidatesOf } from '../model/roster.ts';
import { amend, type Work } from '../model/work.ts';

/** An entry failed alone, on what had passed. */
export function learnFailure(work: Work, entry: Entry, { reason }: Pick<Failure, 'reason'>): void {
  if (reason === 'TEST_RUN_REQUIRED_STATUS_FAILED') learnDecision(work, entry, 1);
}

// SPEC K2
export function learnDecision(work: Work, entry: Entry, outcome: 0 | 1): void {
  const { queue } = work;
  if (queue.hold !== undefined || queue.parked !== undefined || entry.admission === undefined) return;
  amend(work, { learned: withDecision(queue.learned, entry, outcome) });
}

/** Failed runs of a tree that passes were flakes. Timeouts and checks without a result say nothing about the tree. */
// SPEC K3, V66
export function learnPass(work: Work, { number, commit, testingSince, checks, required }: Candidate): void {
  const { queue, at } = work;
  const isFlake = ({ state, failure, commit: other, number: its }: Candidate) =>
    its !== number &&
    state === 'failed' &&
    failure?.reason === 'TEST_RUN_REQUIRED_STATUS_FAILED' &&
    other?.tree === commit?.tree;
  const flakes = candidatesOf(queue).filter(isFlake).length;
  const tookMs = testingSince === undefined ? undefined : Math.max(0, at - testingSince);
  const isAgain = checks.some(({ name, repeatedAt }) => repeatedAt !== undefined && required?.names.includes(name));
  amend(work, { learned: withPass(queue.learned, { flakes, tookMs, isAgain }) });
}

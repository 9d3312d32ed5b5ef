import { deleteIn, listOf } from '../../lib/int-map.ts';
import type { Candidate, Failure } from '../model/candidate.ts';
import { withDecision, withPass } from '../model/learned.ts';
import type { Entry } from '../model/queue.ts';
import { candidatesOf, unlanded } from '../model/roster.ts';
import { failedTestsOf } from '../model/signature.ts';
import { amend, type Work } from '../model/work.ts';
import { noteNewFlakes } from './new-flakes.ts';
import { returnForFlakes } from './returns.ts';

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
// SPEC K3, V77
export function learnPass(work: Work, run: Candidate): void {
  const { number, purpose, beneath, commit, testingSince, checks, required } = run;
  const { queue, at } = work;
  const isFlake = ({ state, failure, commit: other, number: its, question }: Candidate) =>
    its !== number &&
    state === 'failed' &&
    question === undefined &&
    failure?.reason === 'TEST_RUN_REQUIRED_STATUS_FAILED' &&
    other?.tree === commit?.tree;
  const runs = [...candidatesOf(queue), ...listOf(queue.passes)].filter(isFlake);
  const flakes = runs.map((run) => failedTestsOf(run).map(({ id }) => id));
  returnForFlakes(work, runs);
  noteNewFlakes(work, run, runs);
  // Each counts once.
  const passes = runs.reduce((left, run) => deleteIn(left, run.number), queue.passes);
  const tookMs = testingSince === undefined ? undefined : Math.max(0, at - testingSince);
  // A failure on top of what has not passed is often never settled, so that such passes do not count either.
  const isSettled = purpose.kind !== 'main' || unlanded(queue, beneath).every(({ state }) => state === 'TESTS_PASSED');
  const isAgain = checks.some(({ name, repeatedAt }) => repeatedAt !== undefined && required?.names.includes(name));
  amend(work, { passes, learned: withPass(queue.learned, { flakes, isSettled, tookMs, isAgain }) });
}

import { releaseFromBisection } from './bisection-runs.ts';
import type { Candidate, CandidateNumber } from './candidate.ts';
import { abandon } from './line.ts';
import { findCandidate, mayStartTests, type Queue, type Suspicion } from './queue.ts';
import type { ReasonCode } from './reason.ts';
import { candidatesFor, lineOf, unlanded } from './roster.ts';
import { startCandidate } from './test-run.ts';
import { addCandidate, endCandidate, type Work } from './work.ts';

/**
 * A red target is not the next pull request's fault. When two different entries in a row fail alone, by the same check,
 * on one head of the target, the head is tested by itself before a third is removed. If it fails too, the queue holds.
 */

/** This many failures in a row cast suspicion on the head. */
const ENOUGH = 2;

/** False while the target itself may be to blame for the failure: its entries wait. */
export function mayBlame({ queue }: Pick<Work, 'queue'>, candidate: Candidate): boolean {
  return queue.redTarget === undefined && !isTargetSuspected(queue, candidate);
}

/** Others failed in the same way on this head, and nobody knows yet whether it is the head's own fault. */
export function isTargetSuspected(queue: Queue, candidate: Candidate): boolean {
  const { suspicion } = queue;
  if (suspicion === undefined || suspicion.isCleared || suspicion.failed.length < ENOUGH) return false;
  return isAlike(queue, suspicion, candidate);
}

/** An entry is about to be removed for the failure of this candidate. */
export function noteRemoval(work: Work, candidate: Candidate): void {
  const { queue } = work;
  const headOrdinal = testedAloneOn(queue, candidate);
  const checks = candidate.failure?.checks ?? [];
  const [member] = candidate.members;
  if (headOrdinal === undefined || checks.length === 0 || member === undefined) return;
  const known = queue.suspicion;
  const isNext = known !== undefined && isAlike(queue, known, candidate);
  const failed = (isNext ? known.failed : []).filter((prNumber) => prNumber !== member.prNumber);
  work.queue = {
    ...queue,
    suspicion: {
      headOrdinal,
      checks: isNext ? known.checks.filter((name) => checks.includes(name)) : checks,
      failed: [...failed, member.prNumber],
      isCleared: isNext && known.isCleared,
    },
  };
}

/** Asks for a test of the head where one is due. */
export function testSuspectedHead(work: Work): void {
  const { queue } = work;
  const { suspicion, target } = queue;
  if (suspicion === undefined || suspicion.isCleared || suspicion.failed.length < ENOUGH) return;
  if (target === undefined || !mayStartTests(queue) || candidatesFor(queue, 'head').length > 0) return;
  const plan = { purpose: { kind: 'head' as const }, base: target, beneath: [], members: [], parent: undefined };
  startCandidate(work, addCandidate(work, plan));
}

/** Draws the conclusion from a test of the head. */
export function concludeHeadTests(work: Work): void {
  for (const run of candidatesFor(work.queue, 'head')) {
    if (run.state === 'passed') {
      endCandidate(work, run, { reason: 'TEST_RUN_PASSED', prNumber: undefined });
      clearSuspicion(work);
    } else if (run.state === 'failed') {
      endCandidate(work, run, { reason: 'TEST_RUN_REQUIRED_STATUS_FAILED', prNumber: undefined });
      holdQueue(work, run);
    }
  }
}

/**
 * The head moved while it was suspected, or red: what failed on it is tested again on the new one, and nobody is removed for
 * a failure that may have been the old one's.
 */
export function retestSuspected(work: Work): void {
  const { queue } = work;
  for (const { number } of lineOf(queue)) {
    const candidate = findCandidate(work.queue, number);
    if (candidate?.state !== 'failed' || mayBlame({ queue }, candidate)) continue;
    abandon(work, candidate, { reason: 'TARGET_BRANCH_RED' });
  }
  const isSuspect = candidatesFor(queue, 'bisection').some(
    (run) => run.state === 'failed' && !mayBlame({ queue }, run),
  );
  if (isSuspect && queue.target !== undefined) dissolveBisections(work, queue.target.ordinal, undefined);
}

/** The head moved, or an operator wants to go on: what was suspected of the old head says nothing any more. */
export function forgetSuspicion(work: Work, reason: ReasonCode): void {
  for (const run of candidatesFor(work.queue, 'head')) {
    endCandidate(work, run, { reason, prNumber: undefined });
  }
  work.queue = { ...work.queue, suspicion: undefined, redTarget: undefined };
}

/** Whether the head is to blame cannot be found out: the entries are judged as if nothing had been suspected. */
export function clearSuspicion(work: Work): void {
  const { suspicion } = work.queue;
  if (suspicion !== undefined) work.queue = { ...work.queue, suspicion: { ...suspicion, isCleared: true } };
}

function holdQueue(work: Work, run: Candidate): void {
  const checks = run.failure?.checks ?? [];
  work.queue = { ...work.queue, redTarget: { since: work.at, candidate: run.number, checks } };
  dissolveBisections(work, run.base.ordinal, run.number);
  const what = checks.length === 0 ? 'its checks' : checks.join(', ');
  work.effects.push({
    kind: 'raise_alarm',
    code: 'RED_TARGET',
    text: `The head of ${work.queue.branch} fails ${what} by itself. The queue holds until the head moves or tests are restarted.`,
  });
}

/** What failed on a head that is red by itself has proved nothing: searches that are based on it begin again later. */
function dissolveBisections(work: Work, headOrdinal: number, run: CandidateNumber | undefined): void {
  for (const bisection of work.queue.bisections) {
    if (bisection.base.ordinal !== headOrdinal) continue;
    const members = bisection.chains.flatMap(({ parts }) => parts).flatMap((part) => part.members);
    for (const entry of unlanded(work.queue, members)) {
      releaseFromBisection(work, entry, {
        reason: 'TARGET_BRANCH_RED',
        ...(run === undefined ? {} : { candidate: run }),
      });
    }
  }
}

function isAlike(queue: Queue, suspicion: Suspicion, candidate: Candidate): boolean {
  return (
    testedAloneOn(queue, candidate) === suspicion.headOrdinal &&
    (candidate.failure?.checks ?? []).some((name) => suspicion.checks.includes(name))
  );
}

/** The head on which the candidate tested one entry and nothing else that has not landed. */
function testedAloneOn(queue: Queue, candidate: Candidate): number | undefined {
  if (candidate.members.length !== 1 || queue.target === undefined) return undefined;
  if (candidate.purpose.kind === 'bisection') {
    return candidate.beneath.length === 0 ? candidate.base.ordinal : undefined;
  }
  const isAlone = unlanded(queue, candidate.beneath).length === 0 && candidate.composedWith.length === 0;
  return isAlone ? queue.target.ordinal : undefined;
}

import { listOf } from '../../lib/int-map.ts';
import { findBaseTest, suspicionOf, testBase, WORKS_FOR_MS } from '../evidence/suspicion.ts';
import { isSettledFailure, type Mark } from '../line/marks.ts';
import { type Candidate, isUnderTest } from '../model/candidate.ts';
import { policyOf } from '../model/policy.ts';
import { mayWork } from '../model/queue.ts';
import { candidatesOf } from '../model/roster.ts';
import type { Search } from '../model/search.ts';
import { keepCandidate, type Work } from '../model/work.ts';

/**
 * The failure of an entry by itself counts if CI worked when the run began and when it ended: other runs passed that
 * were under test at these moments. Otherwise all may have failed for the same reason, which is not the entry. Only an
 * outage that is hardly longer than the run itself fits between the two.
 */

type Control = 'passed' | 'coming' | 'missing';

interface Span {
  readonly from: number;
  readonly to: number;
}

/** The failed runs of the first member by itself. The first of them began the search, if no longer one did. */
export function ownFailuresOf({ signs }: Search, { runs }: Mark): readonly Candidate[] {
  return runs.filter(isSettledFailure).slice(signs === undefined ? 1 : 0);
}

/** Notes of each failure whether CI worked, once that is known, and tests the base where nothing else would tell. */
// SPEC V72
export function controlFailures(work: Work, search: Search, mark: Mark): void {
  if (!isControlled(work, search)) return;
  const own = ownFailuresOf(search, mark);
  for (const run of own) {
    if (run.isControlled !== undefined || run.testingSince === undefined || run.failure === undefined) continue;
    const { testingSince, failure } = run;
    const began = controlAt(work, search, { from: testingSince - WORKS_FOR_MS, to: testingSince });
    const ended = controlAt(work, search, { from: failure.at, to: failure.at + WORKS_FOR_MS });
    if (began === 'passed' && ended === 'passed') keepCandidate(work, { ...run, isControlled: true });
    else if (began === 'missing') keepCandidate(work, { ...run, isControlled: false });
    else if (ended === 'missing' && !askBase(work, search, run.failure.at))
      keepCandidate(work, { ...run, isControlled: false });
  }
}

/** A run of the base beside the first member's, if no other run tells whether CI works. */
// SPEC V72
export function controlStart(work: Work, search: Search): void {
  if (
    isControlled(work, search) &&
    controlAt(work, search, { from: work.at - WORKS_FOR_MS, to: work.at }) === 'missing'
  )
    askBase(work, search, work.at);
}

/** Failures on a base that the branch has left do not decide. */
function isControlled({ queue }: Work, { isOnHead, accused }: Search): boolean {
  return policyOf(queue).confirms && (isOnHead || accused?.isLast === true);
}

/** False if a run of the base comes too late to tell. */
function askBase(work: Work, { base }: Search, at: number): boolean {
  if (work.at > at + WORKS_FOR_MS) return false;
  if (mayWork(work.queue) && findBaseTest(work.queue, base) === undefined) testBase(work, base);
  return true;
}

/** Whether CI worked at a moment: the beginning of a run was reached from before, and its end is seen from after. */
function controlAt({ queue, at: now }: Work, { base }: Search, { from, to }: Span): Control {
  const isAround = (since: number, until: number) => since <= to && until >= from;
  const isPass = ({ pass, testingSince }: Candidate) =>
    pass?.by === 'own_run' && isAround(testingSince ?? now, pass.at);
  // The base passed by a waiver, or cannot be tested. Testing it again would tell nothing else.
  const cleared = suspicionOf(queue, base)?.cleared;
  if (cleared !== undefined && isAround(cleared.since ?? cleared.at, cleared.at)) return 'passed';
  const runs = candidatesOf(queue);
  if (runs.some(isPass) || listOf(queue.passes).some(isPass)) return 'passed';
  // Runs of searches are likely to fail.
  const isComing = (run: Candidate) =>
    run.purpose.kind !== 'bisection' && isUnderTest(run) && isAround(run.testingSince ?? now, now);
  return runs.some(isComing) || findBaseTest(queue, base) !== undefined ? 'coming' : 'missing';
}

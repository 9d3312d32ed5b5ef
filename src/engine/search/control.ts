import { listOf } from '../../lib/int-map.ts';
import { findBaseTest, suspicionOf, testBase, WORKS_FOR_MS } from '../evidence/suspicion.ts';
import { isSettledFailure, type Mark, marksOf } from '../line/marks.ts';
import { controlProbesOf } from '../line/questions.ts';
import { startRun } from '../line/search-runs.ts';
import { type Candidate, isUnderTest } from '../model/candidate.ts';
import { policyOf } from '../model/policy.ts';
import { mayWork, type Queue } from '../model/queue.ts';
import { candidatesOf } from '../model/roster.ts';
import type { Search } from '../model/search.ts';
import { keepCandidate, type Work } from '../model/work.ts';

/**
 * The failure of an entry by itself counts if CI worked when the run began and when it ended: other runs passed that
 * were under test at these moments. Otherwise all may have failed for the same reason, which is not the entry. Only an
 * outage that is hardly longer than the run itself fits between the two.
 */

/** Runs that are started together begin and end as far apart as this. */
const TOGETHER_MS = 60_000;

type Control = 'passed' | 'coming' | 'missing';

/** The failed runs of the first member by itself. The first of them began the search, if no longer one did. */
function ownFailuresOf({ signs }: Search, { runs }: Mark): readonly Candidate[] {
  return runs.filter(isSettledFailure).slice(signs === undefined ? 1 : 0);
}

/** Notes of each failure whether CI worked, once that is known. */
// SPEC V72
export function noteControls(work: Work, search: Search, mark: Mark): void {
  if (!needsControl(work.queue, search)) return;
  for (const run of ownFailuresOf(search, mark)) {
    if (run.isControlled !== undefined || lacksPass(search, run)) continue;
    const [began, ended] = [controlOfBegin(work, search, run), controlOfEnd(work, search, run)];
    const isOver = ended === 'missing' && work.at > (run.failure?.at ?? 0) + WORKS_FOR_MS;
    if (began === 'missing' || isOver) keepCandidate(work, { ...run, isControlled: false });
    else if (began === 'passed' && ended === 'passed') keepCandidate(work, { ...run, isControlled: true });
  }
}

/** A test may fail in every run of a few tests. So a probe blames only after a probe passed without its entry. */
// SPEC B21
function lacksPass({ asking }: Search, { question }: Candidate): boolean {
  return question !== undefined && asking?.passed === undefined;
}

/** Other runs than those of the search may tell whether one of its failures counts. */
export function isWaitingForControl(queue: Queue, search: Search): boolean {
  const [shortest] = marksOf(queue, search);
  if (shortest?.length !== 1 || !needsControl(queue, search)) return false;
  return ownFailuresOf(search, shortest).some(({ isControlled }) => isControlled === undefined);
}

/**
 * Tests the base beside a run of an entry by itself, and when it has failed, if no other run tells whether CI works.
 * Beside a probe, a probe of the base and the survivors tells as much.
 */
// SPEC V72, B21
export function startControls(work: Work): void {
  if (!mayWork(work.queue)) return;
  for (const search of work.queue.bisections) {
    const isProbing = search.asking?.question !== undefined;
    const isUnderWay = isProbing
      ? controlProbesOf(work.queue, search).length > 0
      : findBaseTest(work.queue, search.base) !== undefined;
    if (isUnderWay || !needsControl(work.queue, search) || !isUncontrolled(work, search)) continue;
    if (isProbing) startRun(work, search, { length: 0 });
    else testBase(work, search.base);
  }
}

function isUncontrolled(work: Work, search: Search): boolean {
  const [shortest] = marksOf(work.queue, search);
  if (shortest === undefined || shortest.length !== 1) return false;
  const lacks = (run: Candidate, control: Control) => lacksPass(search, run) || control === 'missing';
  const isOpen = (run: Candidate) => run.isControlled === undefined && lacks(run, controlOfEnd(work, search, run));
  if (ownFailuresOf(search, shortest).some(isOpen)) return true;
  // A scout of one entry follows no failure.
  const isOwn = search.how === 'halves' || search.signs !== undefined || shortest.runs.length > 1;
  const hasBegun = (run: Candidate) => isUnderTest(run) && (run.testingSince ?? work.at) === work.at;
  return isOwn && shortest.runs.some((run) => hasBegun(run) && lacks(run, controlOfBegin(work, search, run)));
}

/** Failures on a base that the branch has left do not decide. */
function needsControl(queue: Queue, { isOnHead, accused }: Search): boolean {
  return policyOf(queue).confirms && (isOnHead || accused?.isLast === true);
}

function controlOfBegin(work: Work, search: Search, { testingSince = work.at }: Candidate): Control {
  return controlAt(work, search, testingSince - WORKS_FOR_MS, testingSince + TOGETHER_MS);
}

function controlOfEnd(work: Work, search: Search, { failure }: Candidate): Control {
  const at = failure?.at ?? work.at;
  return controlAt(work, search, at - TOGETHER_MS, at + WORKS_FOR_MS);
}

function controlAt({ queue, at }: Work, { base, asking }: Search, from: number, to: number): Control {
  const isBetween = (since: number, until: number) => since <= to && until >= from;
  // The base passed by a waiver, or cannot be tested. Testing it again would tell nothing else.
  const cleared = suspicionOf(queue, base)?.cleared;
  if (cleared !== undefined && isBetween(cleared.since ?? cleared.at, cleared.at)) return 'passed';
  if (asking?.passed?.some((probe) => isBetween(probe.since, probe.at))) return 'passed';
  const isPass = ({ pass, testingSince }: Candidate) =>
    pass?.by === 'own_run' && isBetween(testingSince ?? at, pass.at);
  const runs = candidatesOf(queue);
  if (runs.some(isPass) || listOf(queue.passes).some(isPass)) return 'passed';
  // Runs of searches are likely to fail, but for their controls.
  const isComing = (run: Candidate) =>
    (run.purpose.kind !== 'bisection' || run.members.length === 0) &&
    isUnderTest(run) &&
    isBetween(run.testingSince ?? at, at);
  return runs.some(isComing) ? 'coming' : 'missing';
}

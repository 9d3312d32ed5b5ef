import { type Candidate, openChecks } from '../model/candidate.ts';
import { verdictOfCheck } from '../model/check.ts';
import { policyOf } from '../model/policy.ts';
import { isDear, namesOf, type Question, withCost, withoutOldestCost } from '../model/question.ts';
import type { Because, Queue } from '../model/queue.ts';
import { runsOfSearch } from '../model/roster.ts';
import type { Asking, Search } from '../model/search.ts';
import { MAX_SIGNATURE } from '../model/signature.ts';
import { amend, type Work } from '../model/work.ts';
import { findSearch } from './marks.ts';
import { dropRuns, keepSearch } from './search-runs.ts';

/**
 * A search asks only about the tests that failed. Its probes cost a fraction of a run and decide whom the failure comes
 * from. They show nothing else: what lands has passed all tests, and entries that a probe clears are cleared of that
 * failure alone.
 */

/** Its failed tests are not known yet. They decide how often it has to fail, and what is asked. */
export function isUnread(queue: Queue, { failure, checks }: Candidate): boolean {
  if (!policyOf(queue).confirms || failure?.reason !== 'TEST_RUN_REQUIRED_STATUS_FAILED') return false;
  return checks.some(
    ({ name, conclusion, signature }) =>
      conclusion === 'FAILURE' && signature === undefined && failure.checks.includes(name),
  );
}

/** CI can run the tests of every check that failed alone. */
function isAskable({ probing, ...queue }: Queue, { failure, required, question }: Candidate): boolean {
  if (failure?.reason !== 'TEST_RUN_REQUIRED_STATUS_FAILED' || failure.checks.length === 0) return false;
  if (question !== undefined || probing.stray !== undefined || !policyOf(queue).confirms) return false;
  return failure.checks.every((name) => required?.selecting?.includes(name) === true);
}

/** No run of its search starts before its reports are read, because a probe may do. */
// SPEC B17
export function isAwaitedQuestion(queue: Queue, run: Candidate): boolean {
  return isAskable(queue, run) && isUnread(queue, run) && !isDear(queue.probing);
}

/** The question of a search for the culprits of this failure; undefined if all tests have to run. */
// SPEC B17
export function askAbout(work: Work, run: Candidate): Asking | undefined {
  const question = isAskable(work.queue, run) ? questionOf(run) : undefined;
  if (question === undefined) return undefined;
  if (isDear(work.queue.probing)) {
    amend(work, { probing: withoutOldestCost(work.queue.probing) });
    return {};
  }
  return isWhole(run) ? { question, isWhole: true } : { question };
}

function questionOf({ failure, checks }: Candidate): Question | undefined {
  const testsOf = (name: string) => checks.find((check) => check.name === name)?.signature ?? [];
  const question = failure?.checks.map((check) => ({ check, tests: testsOf(check) })) ?? [];
  const size = question.reduce((sum, { tests }) => sum + tests.length, 0);
  // A list of the longest size may have been cut.
  return size >= MAX_SIGNATURE || question.some(({ tests }) => tests.length === 0) ? undefined : question;
}

/** Nothing hides behind its failures: every other check passed, and every test ran. */
// SPEC B20
function isWhole({ required, checks, failure }: Candidate): boolean {
  const isKnown = (name: string) => {
    const check = checks.find((other) => other.name === name);
    return failure?.checks.includes(name) === true ? check?.isWhole === true : verdictOfCheck(check) === 'passed';
  };
  return required?.names.every(isKnown) === true;
}

/** The probes of the base and the survivors alone. */
export function controlProbesOf(queue: Queue, search: Search): readonly Candidate[] {
  return runsOfSearch(queue, search).filter(({ members }) => members.length === 0);
}

/** All tests run in the rest of this search. Its probes end. */
// SPEC B22
export function stopAsking(work: Work, search: Search, why: Pick<Because, 'candidate' | 'isContradicted'> = {}): void {
  const asked = namesOf(search.asking?.question ?? []);
  const probes = runsOfSearch(work.queue, search).filter(({ question }) => question !== undefined);
  dropRuns(work, search, probes, { reason: 'TEST_RUN_INCONCLUSIVE', asked, ...why });
  // Sets that failed a probe may have failed for the probe.
  keepSearch(work, { ...search, asking: {}, failedSets: [] });
}

/** The probe ended without an answer. */
// SPEC B25
export function concludeUnanswered(work: Work, { number, purpose }: Candidate): void {
  const search = purpose.kind === 'bisection' ? findSearch(work.queue, purpose.bisection) : undefined;
  if (search !== undefined) stopAsking(work, search, { candidate: number });
}

/** Counts how much of a run the probe took. */
// SPEC B23
export function noteCost(work: Work, probe: Candidate): void {
  const { durationMs } = work.queue.learned;
  const { testingSince, checks } = probe;
  if (durationMs === undefined || testingSince === undefined) return;
  const endedAt = openChecks(probe).length === 0 ? Math.max(...checks.map(({ reportedAt }) => reportedAt)) : work.at;
  const percent = Math.round((100 * Math.max(0, endedAt - testingSince)) / Math.max(1, durationMs));
  amend(work, { probing: withCost(work.queue.probing, percent) });
}

/** A required check reported on the commit of a probe, which could then be landed by it elsewhere. */
// SPEC B24
export function stopProbes(work: Work, check: string): void {
  const { branch, probing, bisections } = work.queue;
  amend(work, { probing: { ...probing, stray: { check, at: work.at } } });
  const text = `${check}, which is required, reported on a probe of ${branch}: a commit on which only a few tests ran. The queue sends no more probes. Let CI report "${check} (probe)" on branches with probe/ after the prefix, then set probeStatuses again.`;
  work.effects.push({ kind: 'raise_alarm', code: 'PROBES_STOPPED', text });
  for (const search of bisections) if (search.asking?.question !== undefined) stopAsking(work, search);
}

/** `probeStatuses` was set again. */
export function resumeProbes(work: Work): void {
  if (work.queue.probing.stray !== undefined) work.effects.push({ kind: 'end_alarm', code: 'PROBES_STOPPED' });
  amend(work, { probing: { percents: [] } });
}

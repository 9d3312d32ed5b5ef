import type { Candidate } from '../../engine/model/candidate.ts';
import { type Check, nameOf, verdictOfCheck, withReport } from '../../engine/model/check.ts';
import { findCandidate, type Queue } from '../../engine/model/queue.ts';
import { appFor, isFailFast, isReportedBy } from '../../engine/model/required.ts';
import type { CheckReport } from '../../forge/hosting.ts';
import { reportOfCheck } from '../../forge/report-of-check.ts';
import { valuesOf } from '../../lib/int-map.ts';
import type { Sha } from '../../lib/sha.ts';
import type { App } from '../core/app.ts';
import type { FoundQueue } from '../core/find-queue.ts';
import { uploadsOf } from '../queue/report-check.ts';

/** Checks that are not required are only shown, so that a limit does no harm. */
const MAX_OTHERS = 100;

/** Check results still count for this candidate: rerunning a failed check can clear the failure. */
function isOpen({ state, sameTreeAs, failure }: Candidate): boolean {
  if (state === 'testing') return sameTreeAs === undefined;
  return state === 'failed' && failure?.reason === 'TEST_RUN_REQUIRED_STATUS_FAILED';
}

export function findOpenCandidates({ candidates }: Queue, sha?: Sha): readonly Candidate[] {
  const open = [...valuesOf(candidates)].filter((candidate) => candidate.commit !== undefined && isOpen(candidate));
  return sha === undefined ? open : open.filter(({ commit }) => commit?.sha === sha);
}

/** Of the checks that count for these candidates. */
export function checkNamesOf(candidates: readonly Candidate[]): readonly string[] {
  const names = candidates.flatMap(({ required }) => [
    ...(required?.names ?? []),
    ...(required?.failFast ?? []).map(nameOf),
  ]);
  return [...new Set(names)];
}

// SPEC G35
export async function reportChecks(
  app: App,
  found: FoundQueue,
  candidate: Candidate,
  reports: readonly CheckReport[],
): Promise<void> {
  const at = app.clock.now();
  const known = checksOf(candidate, reports).filter((check) => isNews(candidate, { ...check, reportedAt: at }));
  const uploads = await uploadsOf(app, found.repositoryId, known);
  const news = known.map((check) => ({ ...check, ...uploads }));
  // A pass that ends the test must come after known failures and reruns.
  const inOrder = news.toSorted((a, b) => Number(hasPassed(a, at)) - Number(hasPassed(b, at)));
  await Promise.all(
    inOrder.map((check) =>
      app.queues.run(found.id, (queue) => {
        // Another report may have stored the same result meanwhile, or ended the candidate.
        const present = findCandidate(queue, candidate.number);
        const reported = { ...check, reportedAt: app.clock.now() };
        if (present === undefined || !isOpen(present) || !isNews(present, reported)) return undefined;
        return { kind: 'check_reported', at: reported.reportedAt, candidate: candidate.number, check };
      }),
    ),
  );
}

/** Stores a pass as told, if the test goes on after it anyway. False if the forge has to be asked now. */
// SPEC G173
export async function notePass(
  app: App,
  found: FoundQueue,
  number: Candidate['number'],
  check: CheckReport | undefined,
): Promise<boolean> {
  if (check === undefined || !hasPassed(check, 0)) return false;
  let isEnough = false;
  await app.queues.run(found.id, (queue) => {
    const candidate = findCandidate(queue, number);
    isEnough = candidate !== undefined && goesOnAfter(candidate, check);
    const unconfirmed = { ...check, isUnconfirmed: true } as const;
    const at = app.clock.now();
    if (!isEnough || candidate === undefined || !isNews(candidate, { ...unconfirmed, reportedAt: at }))
      return undefined;
    return { kind: 'check_reported', at, candidate: number, check: unconfirmed };
  });
  return isEnough;
}

function goesOnAfter({ state, sameTreeAs, required, checks }: Candidate, { name, ...check }: CheckReport): boolean {
  if (state !== 'testing' || sameTreeAs !== undefined || required === undefined) return false;
  const app = appFor(required, name);
  if (app !== undefined && !isReportedBy(app, check)) return false;
  const isCompleted = (other: string) => checks.some((each) => each.name === other && each.status === 'COMPLETED');
  return required.names.some((other) => other !== name && !isCompleted(other));
}

export function unconfirmedIn({ checks }: Candidate): readonly string[] {
  return checks.flatMap(({ name, isUnconfirmed }) => (isUnconfirmed === true ? name : []));
}

/** Checks that may decide come first, and are never cut off by the limit. */
function checksOf({ required }: Candidate, reports: readonly CheckReport[]): readonly Omit<Check, 'reportedAt'>[] {
  const names = required?.names ?? [];
  const others = [...new Set(reports.map(({ name }) => name))].filter((name) => !names.includes(name));
  const [failFast, shown] = [true, false].map((is) => others.filter((name) => isFailFast(required, name) === is));
  return [...names, ...(failFast ?? []), ...(shown ?? []).slice(0, MAX_OTHERS)].flatMap((name) => {
    const report = reportOfCheck(reports, name, required && appFor(required, name));
    return report === undefined ? [] : [report];
  });
}

function isNews({ checks, required }: Candidate, report: Check): boolean {
  return withReport(checks, report, required?.names.includes(report.name) === true) !== checks;
}

function hasPassed(check: Omit<Check, 'reportedAt'>, reportedAt: Check['reportedAt']): boolean {
  return verdictOfCheck({ ...check, reportedAt }) === 'passed';
}

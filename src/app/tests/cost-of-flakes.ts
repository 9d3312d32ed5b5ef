import type { costOfFlakes as costOfFlakesContract } from '../../contract/cost-of-flakes.ts';
import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import type { Candidate } from '../../engine/model/candidate.ts';
import type { Check } from '../../engine/model/check.ts';
import { DAY_MS } from '../../flaky/core/detector.ts';
import {
  adviseQuarantine,
  costOf,
  costsBy,
  type FlakeCost,
  type LostEntry,
  type LostRun,
  type QuarantineAdvice,
} from '../../flaky/cost-of-flakes.ts';
import type { Instant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import type { QueueId, TransitionRow } from '../../storage/queues.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { TestRow } from '../../storage/tests.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findTestScope } from '../core/list-page.ts';
import { decodeCandidate, decodeTransition } from '../core/queue-codec.ts';
import { type Answer, isRefusal } from '../core/refusal.ts';
import { checkWindow } from './list-tests.ts';
import { type Place, testLink } from './test-view.ts';

const MAX_WINDOW_DAYS = 92;
/** A run that failed has told its tests at once; whether they are flaky may show later. */
const FOUND_WITHIN_MS = 7 * DAY_MS;
/** Older events of a test are of no interest here. */
const EVENTS_READ = 200;
const MAX_TESTS = 100;

type CostOfFlakes = RequestOf<typeof costOfFlakesContract>;
type Reply = ReplyOf<typeof costOfFlakesContract>;

export async function costOfFlakes(app: App, caller: Caller, input: CostOfFlakes, { baseUrl }: Place): Answer<Reply> {
  const { start_time: from, end_time: until } = input;
  const problem = checkWindow(input, MAX_WINDOW_DAYS);
  if (problem !== undefined) return problem;
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const { runs, tests } = await findLostRuns(app, repository, { from, until });
  const links = { baseUrl, orgSlug: caller.organization.slug };

  const ofTest = (id: string) => tests.get(id) as TestRow;
  const advice = adviseQuarantine(runs);
  return {
    total: viewCost(costOf(runs)),
    tests: costsBy(runs, (id) => [id])
      .slice(0, MAX_TESTS)
      .map(([id, cost]) => {
        const { name, status, codeowners, quarantinedAt } = ofTest(id);
        const shown = { id, html_url: testLink(id, repository, links), name, status, codeowners };
        return { ...shown, quarantined: quarantinedAt !== null, ...viewCost(cost) };
      }),
    owners: costsBy(runs, (id) => ofTest(id).codeowners).map(([owner, cost]) => ({ owner, ...viewCost(cost) })),
    saved_by_honoring: viewCost(costOf(runs.filter(({ isExcused }) => isExcused))),
    ...present({ advice: advice && viewAdvice(advice, ofTest) }),
  };
}

function viewCost({ runs, removed, retested, waitedMs, ciMs }: FlakeCost) {
  return {
    test_runs: runs,
    entries_removed: removed,
    entries_retested: retested,
    hours_waited: waitedMs / 3_600_000,
    ci_minutes: ciMs / 60_000,
  };
}

function viewAdvice(
  { testIds, saved }: QuarantineAdvice,
  ofTest: (id: string) => TestRow,
): NonNullable<Reply['advice']> {
  const names = testIds.map((id) => `"${ofTest(id).name}"`).join(', ');
  const what = testIds.length === 1 ? 'this test' : `these ${testIds.length} tests`;
  const hours = formatHours(saved.waitedMs);
  const minutes = Math.round(saved.ciMs / 60_000);
  const text = `Quarantining ${what} would have saved ${hours} of waiting and ${minutes} CI minutes: ${names}.`;
  return { test_ids: testIds, ...viewCost(saved), text };
}

function formatHours(ms: number): string {
  return ms < 3_600_000 ? `${Math.round(ms / 60_000)} min` : `${Number((ms / 3_600_000).toPrecision(2))} h`;
}

interface Window {
  readonly from: Instant;
  readonly until: Instant;
}

interface FailedRun {
  readonly candidate: Candidate;
  readonly queueId: QueueId;
  readonly id: string;
  readonly failedAt: Instant;
  readonly testIds: readonly string[];
  readonly isExcused: boolean;
}

async function findLostRuns(
  app: App,
  repository: Repository,
  window: Window,
): Promise<{ readonly runs: readonly LostRun[]; readonly tests: ReadonlyMap<string, TestRow> }> {
  const queues = await app.store.queues.listByRepository(repository.id);
  const queueIds = queues.map(({ id }) => id);
  const until = app.clock.now();
  // Later transitions tell when a removed pull request came back.
  const rows = await app.store.queueRecords.listTransitionsWithin({ queueIds, from: window.from, until });
  const byEntry = Map.groupBy(rows, ({ entryId }) => entryId);
  const failed: FailedRun[] = [];
  for (const id of runsWithoutPass(byEntry)) {
    const run = await readFailedRun(app, repository, id);
    if (run !== undefined && run.failedAt >= window.from && run.failedAt < window.until) failed.push(run);
  }
  const flaky = await findFlakyTests(app, repository, failed);
  const lost = failed.filter((run) => run.testIds.every((id) => flaky.wasFlaky(id, run.failedAt)));
  const byPr = Map.groupBy(rows, ({ queueId, prNumber }) => `${queueId}/${prNumber}`);
  return { runs: lost.map((run) => lostRunOf(run, byPr)), tests: flaky.tests };
}

function runsWithoutPass(byEntry: ReadonlyMap<string, readonly TransitionRow[]>): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const rows of byEntry.values()) {
    let running: string | undefined;
    for (const row of rows) {
      const { testRunId } = decodeTransition(row);
      if (row.from === 'TESTING' && row.to !== 'TESTS_PASSED' && running !== undefined) ids.add(running);
      if (row.to === 'FAILED' && testRunId !== undefined) ids.add(testRunId);
      if (row.to === 'TESTING') running = testRunId;
    }
  }
  return ids;
}

/** Undefined if no tests are known that failed in every check that failed. */
// SPEC F66, F69
async function readFailedRun(app: App, repository: Repository, id: string): Promise<FailedRun | undefined> {
  const row = await app.store.queueRecords.findCandidateById(id);
  const candidate = row && decodeCandidate(row);
  if (candidate?.failure?.reason !== 'TEST_RUN_REQUIRED_STATUS_FAILED' || candidate.question !== undefined)
    return undefined;
  const { failure, checks } = candidate;
  const testIds = new Set<string>();
  let isExcused = true;
  for (const name of failure.checks) {
    const check = checks.find((each) => each.name === name);
    const failing = check && (await failingTests(app, repository, { id, check }));
    if (failing === undefined || failing.length === 0) return undefined;
    for (const testId of failing) testIds.add(testId);
    isExcused &&= check?.judgement?.kind === 'judged' && check.judgement.isShadow && check.judgement.isWaived;
  }
  if (row === undefined || testIds.size === 0) return undefined;
  return { candidate, queueId: row.queueId, id, failedAt: failure.at, testIds: [...testIds], isExcused };
}

/** A judgement names the tests. A queue that honors no quarantine has none, and the uploaded results tell. */
async function failingTests(
  app: App,
  repository: Repository,
  { id, check }: { readonly id: string; readonly check: Check },
): Promise<readonly string[]> {
  const { judgement, name } = check;
  if (judgement?.kind === 'judged' && judgement.tests.length > 0)
    return judgement.tests.length < judgement.failing ? [] : judgement.tests.map((test) => test.id);
  const results = await app.store.testIngest.findCheckResults(repository.id, id, name);
  return results?.failing.map(({ testId }) => testId) ?? [];
}

interface FlakyTests {
  readonly tests: ReadonlyMap<string, TestRow>;
  wasFlaky(testId: string, at: Instant): boolean;
}

async function findFlakyTests(app: App, repository: Repository, runs: readonly FailedRun[]): Promise<FlakyTests> {
  const ids = [...new Set(runs.flatMap(({ testIds }) => testIds))];
  const { known } = await app.store.testIngest.load(repository.id, ids);
  const tests = new Map(known.map(({ test }) => [test.id, test]));
  const spans = new Map<string, readonly StatusSpan[]>();
  for (const test of tests.values()) spans.set(test.id, await readStatuses(app, repository, test));
  return {
    tests,
    wasFlaky: (testId, at) =>
      spans.get(testId)?.some(({ status, from, until }) => {
        return status === 'FLAKY' && from <= at + FOUND_WITHIN_MS && until > at;
      }) ?? false,
  };
}

interface StatusSpan {
  readonly status: string;
  readonly from: Instant;
  readonly until: Instant;
}

async function readStatuses(app: App, { id: repositoryId }: Repository, test: TestRow): Promise<StatusSpan[]> {
  const watermark = await app.store.tests.getWatermark(repositoryId);
  const query = { repositoryId, watermark, offset: 0, limit: EVENTS_READ };
  const { events } = await app.store.tests.listEvents({ ...query, testId: test.id });
  const spans: StatusSpan[] = [];
  let status: string = test.status;
  let until = Number.POSITIVE_INFINITY;
  for (const { kind, at, detail } of events) {
    if (kind !== 'status_changed') continue;
    spans.push({ status, from: at, until });
    until = at;
    status = (JSON.parse(detail) as { readonly from: string }).from;
  }
  return [...spans, { status, from: Number.NEGATIVE_INFINITY, until }];
}

function lostRunOf(
  { candidate, queueId, id, failedAt, testIds, isExcused }: FailedRun,
  byPr: ReadonlyMap<string, readonly TransitionRow[]>,
): LostRun {
  const begunAt = candidate.testingSince ?? candidate.plannedAt;
  const entries = candidate.members.map(({ prNumber }): LostEntry => {
    const key = `${queueId}/${prNumber}`;
    const { isRemoved, backAt } = findRemoval(byPr.get(key) ?? [], id);
    return { key, isRemoved, waitedMs: Math.max(0, (backAt ?? failedAt) - begunAt) };
  });
  return { testIds, isExcused, entries, ciMs: ciMsOf(candidate, begunAt) };
}

/** Whether this run removed the entry, and when the pull request was submitted again; undefined: not yet. */
function findRemoval(rows: readonly TransitionRow[], testRunId: string) {
  const index = rows.findIndex((row) => row.to === 'FAILED' && decodeTransition(row).testRunId === testRunId);
  return { isRemoved: index !== -1, backAt: index === -1 ? undefined : rows[index + 1]?.at };
}

function ciMsOf({ checks }: Candidate, begunAt: Instant): number {
  const times = checks.map(({ status, startedAt, reportedAt }) =>
    status === 'COMPLETED' ? Math.max(0, reportedAt - (startedAt ?? begunAt)) : 0,
  );
  return times.reduce((sum, ms) => sum + ms, 0);
}

import type { StoredRun } from '../test-ingest.ts';
import type {
  FailureGroup,
  TestExecution,
  TestList,
  TestListQuery,
  TestRow,
  TestRunQuery,
  TestStats,
  TestStore,
} from '../tests.ts';
import { compareText } from './order.ts';
import type { MemoryBatch, MemoryState, MemoryTests, TestKind } from './state.ts';
import { noTests } from './test-ingest.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const GROUPS_SHOWN = 5;

type Failure = MemoryTests['failures'][number];
type PlacedRun = StoredRun & { readonly batch: MemoryBatch };

export function createMemoryTests(state: MemoryState): TestStore {
  const of = (repositoryId: string) => state.tests.get(repositoryId) ?? noTests();
  const rowsOf = (repositoryId: string) => [...of(repositoryId).byId.values()].map(({ row }) => row);
  return {
    getWatermark: async (repositoryId) => of(repositoryId).lastSeq,
    find: async (repositoryId, testId) => of(repositoryId).byId.get(testId)?.row,
    search: async (repositoryId, text, limit) =>
      rowsOf(repositoryId)
        .filter((row) => isFoundBy(row, text))
        .sort((a, b) => compareText(a.name, b.name) || compareText(a.id, b.id))
        .slice(0, limit),
    listFailing: async (query) => listFailing(of(query.repositoryId), query),
    listQuarantined: async (query) => listOfKind(of(query.repositoryId), 'QUARANTINED', query),
    listByStatus: async (query) => listOfKind(of(query.repositoryId), query.status, query),
    async getStats({ repositoryId, testIds, now, since }) {
      return testIds.map((id) => statsOf(of(repositoryId), id, { now, since }));
    },
    listRuns: async (query) => listRuns(of(query.repositoryId), query),
    async listEvents({ repositoryId, testId, watermark, offset, limit }) {
      const events = of(repositoryId)
        .events.filter((event) => event.testId === testId && event.seq <= watermark)
        .sort((a, b) => a.at - b.at)
        .reverse();
      const page = events.slice(offset, offset + limit);
      return { totalRows: events.length, events: page.map(({ seq: _, ...event }) => event) };
    },
    async countRuns(repositoryId, tests) {
      return tests.map(({ testId, since }) => {
        const runs = runsOf(of(repositoryId), testId).filter((run) => run.startedAt >= since && !isSkipped(run));
        const failures = runs.filter(isFailure).length;
        const lastRunAt = runs.length === 0 ? null : Math.max(...runs.map((run) => run.startedAt));
        return { passes: runs.length - failures, failures, lastRunAt };
      });
    },
    getQuarantineVersion: async (repositoryId) => of(repositoryId).quarantineVersion,
    async listQuarantinedIds(repositoryId) {
      const quarantined = rowsOf(repositoryId).filter((row) => row.quarantinedAt !== null);
      return { version: of(repositoryId).quarantineVersion, ids: quarantined.map(({ id }) => id).sort(compareText) };
    },
  };
}

function isFoundBy({ name, classname, file, parent }: TestRow, text: string): boolean {
  return [name, classname, file, parent].some((part) => part?.toLowerCase().includes(text.toLowerCase()));
}

function runsOf(tests: MemoryTests, testId: string): PlacedRun[] {
  const no = tests.byId.get(testId)?.row.no;
  return tests.batches.flatMap((batch) =>
    batch.runs.filter((run) => run.testNo === no).map((run) => ({ ...run, batch })),
  );
}

function isFailure(run: StoredRun): boolean {
  return run.conclusion === 'FAILURE';
}

function isSkipped(run: StoredRun): boolean {
  return run.conclusion === 'SKIPPED';
}

function listFailing(tests: MemoryTests, query: Parameters<TestStore['listFailing']>[0]): TestList {
  const counted = tests.failures.filter(
    ({ seq, startedAt }) => seq <= query.watermark && startedAt >= query.from && startedAt < query.until,
  );
  const failing = [...Map.groupBy(counted, ({ testId }) => testId)]
    .sort(([a, ofA], [b, ofB]) => ofB.length - ofA.length || compareText(a, b))
    .flatMap(([id]) => tests.byId.get(id)?.row ?? []);
  return pageOf(failing, query);
}

function listOfKind(tests: MemoryTests, kind: TestKind, query: TestListQuery): TestList {
  const { watermark } = query;
  const members = [...tests.byId.values()]
    .filter(({ intervals }) =>
      intervals.some(
        (interval) =>
          interval.kind === kind &&
          interval.fromSeq <= watermark &&
          (interval.toSeq === null || interval.toSeq > watermark),
      ),
    )
    .map(({ row }) => row)
    .sort((a, b) => compareText(a.id, b.id));
  return pageOf(members, query);
}

function pageOf(rows: readonly TestRow[], { offset, limit }: TestListQuery): TestList {
  return { totalRows: rows.length, tests: rows.slice(offset, offset + limit) };
}

function listRuns(tests: MemoryTests, query: TestRunQuery) {
  const runs = runsOf(tests, query.testId)
    .map((run, index, all) => viewOf(tests, query.testId, run, all.slice(0, index)))
    .filter(
      ({ seq, view }) =>
        seq <= query.watermark &&
        view.startedAt >= query.since &&
        (query.branch === null || view.branch === query.branch) &&
        (query.conclusion === null || view.conclusion === query.conclusion),
    )
    .sort((a, b) => a.view.startedAt - b.view.startedAt)
    .reverse()
    .map(({ view }) => view);
  return { totalRows: runs.length, runs: runs.slice(query.offset, query.offset + query.limit) };
}

/** The n-th run that failed in a batch at an instant has the n-th failure there. */
function viewOf(tests: MemoryTests, testId: string, run: PlacedRun, before: readonly PlacedRun[]) {
  const { seq, facts } = run.batch;
  const nth = before.filter(
    (other) => isFailure(other) && other.batch === run.batch && other.startedAt === run.startedAt,
  ).length;
  const failures = tests.failures.filter(
    (failure) => failure.seq === seq && failure.testId === testId && failure.startedAt === run.startedAt,
  );
  const failure = isFailure(run) ? failures[nth] : undefined;
  const { conclusion, startedAt, durationMs, isQuarantined } = run;
  const { branch, sha, prNumber, jobName, jobUrl, uploadId, flaw } = facts;
  const view: TestExecution = {
    ...{ conclusion, startedAt, durationMs, isQuarantined },
    ...{ branch, sha, prNumber, jobName, jobUrl, uploadId, flaw },
    failureSummary: failure?.summary ?? null,
    failureText: failure?.text ?? null,
  };
  return { seq, view };
}

function statsOf(
  tests: MemoryTests,
  testId: string,
  { now, since }: { readonly now: number; readonly since: number },
): TestStats {
  const isWithin = (startedAt: number, days: number) =>
    startedAt > now - days * DAY_MS && startedAt <= now && startedAt >= since;
  const runs = runsOf(tests, testId).filter((run) => !isSkipped(run));
  const failures = tests.byId.has(testId) ? tests.failures.filter((failure) => failure.testId === testId) : [];
  const week = runs.filter((run) => isWithin(run.startedAt, 7));
  const day = runs.filter((run) => isWithin(run.startedAt, 1));
  const blocked = failures.filter(
    ({ startedAt, isBlocking, prNumber }) => isWithin(startedAt, 7) && isBlocking && prNumber !== null,
  );
  return {
    runs7d: week.length,
    failures7d: week.filter(isFailure).length,
    runs24h: day.length,
    failures24h: day.filter(isFailure).length,
    pullRequestsImpacted7d: new Set(blocked.map(({ prNumber }) => prNumber)).size,
    failureGroups: groupsOf(failures.filter(({ startedAt }) => startedAt >= since && startedAt <= now)),
  };
}

function groupsOf(failures: readonly Failure[]): readonly FailureGroup[] {
  return [...Map.groupBy(failures, ({ group }) => group)]
    .map(([group, all]) => {
      // Of failures at one instant the one stored last speaks for the group.
      const latest = all.reduce((a, b) => (b.startedAt >= a.startedAt ? b : a));
      return { group, summary: latest.summary, occurrences: all.length, lastAt: latest.startedAt };
    })
    .sort((a, b) => b.occurrences - a.occurrences || b.lastAt - a.lastAt || compareText(a.group, b.group))
    .slice(0, GROUPS_SHOWN)
    .map(({ summary, occurrences, lastAt }) => ({ summary, occurrences, lastAt }));
}

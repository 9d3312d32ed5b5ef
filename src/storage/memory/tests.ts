import { assert } from '../../lib/assert.ts';
import type {
  FailureGroup,
  TestChange,
  TestList,
  TestListQuery,
  TestRow,
  TestRunRow,
  TestStats,
  TestStore,
} from '../tests.ts';
import { frozenCopy } from './frozen-copy.ts';
import { compareText } from './order.ts';
import type { MemoryState, MemoryTest, MemoryTests, TestKind } from './state.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const GROUPS_SHOWN = 5;

export function createMemoryTests(state: MemoryState): TestStore {
  const testsOf = (repositoryId: string) => [...(state.tests.get(repositoryId)?.byId.values() ?? [])];
  return {
    apply: async (change) => apply(state, frozenCopy(change)),
    getWatermark: async (repositoryId) => state.tests.get(repositoryId)?.lastSeq ?? 0,
    find: async (repositoryId, testId) => state.tests.get(repositoryId)?.byId.get(testId)?.row,
    listFailing: async (query) => listFailing(testsOf(query.repositoryId), query),
    listQuarantined: async (query) => listOfKind(testsOf(query.repositoryId), 'QUARANTINED', query),
    listByStatus: async (query) => listOfKind(testsOf(query.repositoryId), query.status, query),
    async getStats({ repositoryId, testIds, now, since }) {
      const tests = state.tests.get(repositoryId)?.byId;
      return testIds.map((id) => statsOf(tests?.get(id)?.runs ?? [], now, since));
    },
  };
}

function apply(state: MemoryState, change: TestChange): number {
  const { repositoryId } = change;
  assert(state.repositories.has(repositoryId), `there is no repository ${repositoryId}`);
  for (const test of change.tests) {
    assert(test.repositoryId === repositoryId, `test ${test.id} belongs to another repository`);
  }
  const tests: MemoryTests = state.tests.get(repositoryId) ?? { lastSeq: 0, byId: new Map() };
  state.tests.set(repositoryId, tests);
  tests.lastSeq += 1;
  for (const row of new Map(change.tests.map((test) => [test.id, test])).values()) putTest(tests, row);
  for (const run of change.runs) tests.byId.get(run.testId)?.runs.push({ ...run, seq: tests.lastSeq });
  return tests.lastSeq;
}

function putTest({ byId, lastSeq }: MemoryTests, row: TestRow): void {
  const test = byId.get(row.id) ?? { row, intervals: [], runs: [] };
  test.row = row;
  byId.set(row.id, test);
  const kinds: TestKind[] = row.quarantinedAt === null ? [row.status] : [row.status, 'QUARANTINED'];
  const open = test.intervals.filter((interval) => interval.toSeq === null);
  for (const interval of open) if (!kinds.includes(interval.kind)) interval.toSeq = lastSeq;
  for (const kind of kinds) {
    if (!open.some((interval) => interval.kind === kind)) test.intervals.push({ kind, fromSeq: lastSeq, toSeq: null });
  }
}

function listFailing(tests: MemoryTest[], query: Parameters<TestStore['listFailing']>[0]): TestList {
  const isCounted = (run: MemoryTest['runs'][number]) =>
    run.conclusion === 'FAILURE' &&
    run.seq <= query.watermark &&
    run.startedAt >= query.from &&
    run.startedAt < query.until;
  const failing = tests
    .map(({ row, runs }) => ({ row, failures: runs.filter(isCounted).length }))
    .filter(({ failures }) => failures > 0)
    .sort((a, b) => b.failures - a.failures || compareText(a.row.id, b.row.id));
  return pageOf(
    failing.map(({ row }) => row),
    query,
  );
}

function listOfKind(tests: MemoryTest[], kind: TestKind, query: TestListQuery): TestList {
  const { watermark } = query;
  const members = tests
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

function statsOf(runs: readonly TestRunRow[], now: number, since: number): TestStats {
  const counted = runs.filter((run) => run.conclusion !== 'SKIPPED' && run.startedAt <= now);
  const week = counted.filter((run) => run.startedAt > now - 7 * DAY_MS);
  const day = counted.filter((run) => run.startedAt > now - DAY_MS);
  const blocked = week.filter((run) => isFailure(run) && run.isBlocking && run.prNumber !== null);
  return {
    runs7d: week.length,
    failures7d: week.filter(isFailure).length,
    runs24h: day.length,
    failures24h: day.filter(isFailure).length,
    pullRequestsImpacted7d: new Set(blocked.map((run) => run.prNumber)).size,
    failureGroups: groupsOf(counted.filter((run) => isFailure(run) && run.startedAt >= since)),
  };
}

function isFailure(run: TestRunRow): boolean {
  return run.conclusion === 'FAILURE';
}

function groupsOf(failures: readonly TestRunRow[]): readonly FailureGroup[] {
  const groups = Map.groupBy(
    failures.filter((run) => run.failureGroup !== null),
    (run) => run.failureGroup as string,
  );
  return [...groups]
    .map(([group, runs]) => {
      // Of runs at one instant the one stored last speaks for the group.
      const latest = runs.reduce((a, b) => (b.startedAt >= a.startedAt ? b : a));
      return { group, summary: latest.failureSummary ?? '', occurrences: runs.length, lastAt: latest.startedAt };
    })
    .sort((a, b) => b.occurrences - a.occurrences || b.lastAt - a.lastAt || compareText(a.group, b.group))
    .slice(0, GROUPS_SHOWN)
    .map(({ summary, occurrences, lastAt }) => ({ summary, occurrences, lastAt }));
}

import { type NotNull, sql } from 'kysely';
import type { TestStats, TestStore } from '../tests.ts';
import { allOf, type Operation } from './operation.ts';
import type { BlockCache } from './runs/block-cache.ts';
import { DAY_MS } from './runs/buckets.ts';
import { CONCLUSION_MASK, FAILURE, SKIPPED } from './runs/run-columns.ts';
import { findStoredRuns, type RunStatements, type StoredRuns, visitStoredRuns } from './runs/stored-runs.ts';
import type { Placeholders, StatementCompiler } from './statement.ts';
import type { NumberStatements } from './test-runs.ts';

type StatsQuery = Parameters<TestStore['getStats']>[0];
type StatsStatements = ReturnType<typeof statsStatements> & NumberStatements & RunStatements;

const GROUPS_SHOWN = 5;
const NO_RUNS: TestStats = {
  runs7d: 0,
  failures7d: 0,
  runs24h: 0,
  failures24h: 0,
  pullRequestsImpacted7d: 0,
  failureGroups: [],
};

export function* getStats(
  statements: StatsStatements,
  cache: BlockCache,
  query: StatsQuery,
): Operation<readonly TestStats[]> {
  const { repositoryId, now, since } = query;
  const tests = yield* allOf(statements.findNumbers({ repositoryId }, [...new Set(query.testIds)]));
  const weekAgo = Math.max(now - 7 * DAY_MS + 1, since);
  const testNos = tests.map(({ no }) => no);
  const stored = yield* findStoredRuns(statements, cache, { repositoryId, testNos, since: weekAgo, until: now });
  const impacted = yield* allOf(statements.countImpacted({ repositoryId, now, since: weekAgo }, testNos));
  const groups = yield* allOf(statements.groupFailures({ repositoryId, now, since }, testNos));
  const impactedOf = new Map(impacted.map(({ test_no, total }) => [test_no, total]));
  const groupsOf = Map.groupBy(groups, ({ test_no }) => test_no);
  const stats = new Map(
    tests.map(({ id, no }): [string, TestStats] => [
      id,
      {
        ...countRuns(stored, no, { since: weekAgo, now }),
        pullRequestsImpacted7d: impactedOf.get(no) ?? 0,
        failureGroups: (groupsOf.get(no) ?? []).map(({ test_no: _, ...group }) => group),
      },
    ]),
  );
  return query.testIds.map((id) => stats.get(id) ?? NO_RUNS);
}

function countRuns(
  stored: StoredRuns,
  testNo: number,
  { since, now }: { readonly since: number; readonly now: number },
): Pick<TestStats, 'runs7d' | 'failures7d' | 'runs24h' | 'failures24h'> {
  const counts = { runs7d: 0, failures7d: 0, runs24h: 0, failures24h: 0 };
  visitStoredRuns(stored, testNo, since, ({ startedAt, flags }) => {
    const conclusion = flags & CONCLUSION_MASK;
    if (startedAt > now || conclusion === SKIPPED) return;
    const failures = conclusion === FAILURE ? 1 : 0;
    counts.runs7d += 1;
    counts.failures7d += failures;
    if (startedAt <= now - DAY_MS) return;
    counts.runs24h += 1;
    counts.failures24h += failures;
  });
  return counts;
}

export function statsStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    countImpacted: compiler.list<Window, number>()((param, testNos) =>
      builder
        .selectFrom('test_failures')
        .where('repository_id', '=', param('repositoryId'))
        .where('test_no', 'in', testNos)
        .where('started_at', '>=', param('since'))
        .where('started_at', '<=', param('now'))
        .where(sql<boolean>`is_blocking`)
        .groupBy('test_no')
        .select((eb) => ['test_no', eb.fn.count<number>('pr_number').distinct().as('total')]),
    ),
    groupFailures: groupStatement(compiler),
  };
}

type Window = { repositoryId: string; now: number; since: number };

/** The groups of each test are ranked in the database; only of those that are shown the latest run is looked up. */
function groupStatement(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return compiler.list<Window, number>()((param, testNos) =>
    builder
      .selectFrom(rankedGroups(compiler, param, testNos).as('ranked'))
      .where('rank', '<=', GROUPS_SHOWN)
      .select(({ selectFrom }) => [
        'ranked.test_no',
        'ranked.occurrences',
        'ranked.lastAt',
        selectFrom('test_failures as latest')
          .select('latest.summary')
          .where('latest.repository_id', '=', param('repositoryId'))
          .whereRef('latest.test_no', '=', 'ranked.test_no')
          .whereRef('latest.started_at', '=', 'ranked.lastAt')
          .whereRef('latest.failure_group', '=', 'ranked.failure_group')
          .orderBy('latest.seq', 'desc')
          .orderBy('latest.ordinal', 'desc')
          .limit(1)
          .as('summary'),
      ])
      .$narrowType<{ summary: NotNull }>()
      .orderBy('ranked.test_no')
      .orderBy('ranked.rank'),
  );
}

function rankedGroups(compiler: StatementCompiler, param: Placeholders<Window>, testNos: number[]) {
  const { builder } = compiler.dialect;
  const groups = builder
    .selectFrom('test_failures')
    .where('repository_id', '=', param('repositoryId'))
    .where('test_no', 'in', testNos)
    .where('started_at', '>=', param('since'))
    .where('started_at', '<=', param('now'))
    .groupBy(['test_no', 'failure_group'])
    .select(({ fn }) => [
      ...(['test_no', 'failure_group'] as const),
      fn.countAll<number>().as('occurrences'),
      fn.max('started_at').as('lastAt'),
    ]);
  return builder.selectFrom(groups.as('groups')).select(({ fn }) => [
    ...(['test_no', 'failure_group', 'occurrences', 'lastAt'] as const),
    fn
      .agg<number>('row_number')
      .over((over) =>
        over.partitionBy('test_no').orderBy('occurrences', 'desc').orderBy('lastAt', 'desc').orderBy('failure_group'),
      )
      .as('rank'),
  ]);
}

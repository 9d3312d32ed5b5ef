import { type NotNull, sql } from 'kysely';
import type { TestStats, TestStore } from '../tests.ts';
import { allOf, type Operation } from './operation.ts';
import type { Placeholders, StatementCompiler } from './statement.ts';
import { FAILURE, SKIPPED, storedRuns } from './stored-runs.ts';
import type { NumberStatements } from './test-runs.ts';

type StatsQuery = Parameters<TestStore['getStats']>[0];
type StatsStatements = ReturnType<typeof statsStatements> & NumberStatements;

const DAY_MS = 24 * 60 * 60 * 1000;
const GROUPS_SHOWN = 5;
const NO_RUNS = { runs7d: 0, failures7d: 0, runs24h: 0, failures24h: 0 };
const NOTHING: TestStats = { ...NO_RUNS, pullRequestsImpacted7d: 0, failureGroups: [] };

export function* getStats(statements: StatsStatements, query: StatsQuery): Operation<readonly TestStats[]> {
  const { repositoryId, now, since } = query;
  const tests = yield* allOf(statements.findNumbers({ repositoryId }, [...new Set(query.testIds)]));
  const weekAgo = Math.max(now - 7 * DAY_MS + 1, since);
  const testNos = tests.map(({ no }) => no);
  const day = { dayAgo: now - DAY_MS };
  const counts = yield* allOf(statements.countWeek({ repositoryId, now, since: weekAgo, ...day }, testNos));
  const impacted = yield* allOf(statements.countImpacted({ repositoryId, now, since: weekAgo }, testNos));
  const groups = yield* allOf(statements.groupFailures({ repositoryId, now, since }, testNos));
  const countsOf = new Map(counts.map(({ test_no, ...count }) => [test_no, count]));
  const impactedOf = new Map(impacted.map(({ test_no, total }) => [test_no, total]));
  const groupsOf = Map.groupBy(groups, ({ test_no }) => test_no);
  const stats = new Map(
    tests.map(({ id, no }): [string, TestStats] => [
      id,
      {
        ...(countsOf.get(no) ?? NO_RUNS),
        pullRequestsImpacted7d: impactedOf.get(no) ?? 0,
        failureGroups: (groupsOf.get(no) ?? []).map(({ test_no: _, ...group }) => group),
      },
    ]),
  );
  return query.testIds.map((id) => stats.get(id) ?? NOTHING);
}

export function statsStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    countWeek: compiler.list<Window & { dayAgo: number }, number>()((param, testNos) =>
      storedRuns(compiler, param)
        .where('run_parts.first_started_at', '<=', param('now'))
        .where('runs.test_no', 'in', testNos)
        .where('runs.started_at', '<=', param('now'))
        .where('runs.conclusion', '<>', SKIPPED)
        .groupBy('runs.test_no')
        .select(({ fn }) => [
          'runs.test_no',
          fn.countAll<number>().as('runs7d'),
          fn.countAll<number>().filterWhere('runs.conclusion', '=', FAILURE).as('failures7d'),
          fn.countAll<number>().filterWhere('runs.started_at', '>', param('dayAgo')).as('runs24h'),
          fn
            .countAll<number>()
            .filterWhere('runs.started_at', '>', param('dayAgo'))
            .filterWhere('runs.conclusion', '=', FAILURE)
            .as('failures24h'),
        ]),
    ),
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

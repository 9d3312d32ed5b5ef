import { sql } from 'kysely';
import type { TestStats, TestStore } from '../tests.ts';
import { allOf, type Operation } from './operation.ts';
import type { Placeholders, StatementCompiler } from './statement.ts';

type StatsQuery = Parameters<TestStore['getStats']>[0];
type StatsStatements = ReturnType<typeof statsStatements>;

const DAY_MS = 24 * 60 * 60 * 1000;
const GROUPS_SHOWN = 5;
const NO_RUNS: TestStats = {
  runs7d: 0,
  failures7d: 0,
  runs24h: 0,
  failures24h: 0,
  pullRequestsImpacted7d: 0,
  failureGroups: [],
};

export function* getStats(statements: StatsStatements, query: StatsQuery): Operation<readonly TestStats[]> {
  const { repositoryId, now, since } = query;
  const ids = [...new Set(query.testIds)];
  const windows = { repositoryId, now, weekAgo: now - 7 * DAY_MS, dayAgo: now - DAY_MS };
  const counts = yield* allOf(statements.count(windows, ids));
  const groups = yield* allOf(statements.groupFailures({ repositoryId, now, since }, ids));
  const stats = new Map<string, TestStats>();
  for (const { test_id, ...row } of counts) stats.set(test_id, { ...row, failureGroups: [] });
  for (const { test_id, ...group } of groups) {
    const before = stats.get(test_id) ?? NO_RUNS;
    stats.set(test_id, { ...before, failureGroups: [...before.failureGroups, group] });
  }
  return query.testIds.map((id) => stats.get(id) ?? NO_RUNS);
}

export function statsStatements(compiler: StatementCompiler) {
  return { count: countStatement(compiler), groupFailures: groupStatement(compiler) };
}

function countStatement(compiler: StatementCompiler) {
  type Windows = { repositoryId: string; now: number; weekAgo: number; dayAgo: number };
  return compiler.list<Windows, string>()((param, ids) =>
    compiler.dialect.builder
      .selectFrom('test_runs')
      .where('repository_id', '=', param('repositoryId'))
      .where('test_id', 'in', ids)
      .where('started_at', '>', param('weekAgo'))
      .where('started_at', '<=', param('now'))
      .where('conclusion', 'in', ['SUCCESS', 'FAILURE'])
      .groupBy('test_id')
      .select((eb) => {
        const runs = eb.fn.countAll<number>();
        return [
          'test_id',
          runs.as('runs7d'),
          runs.filterWhere('conclusion', '=', 'FAILURE').as('failures7d'),
          runs.filterWhere('started_at', '>', param('dayAgo')).as('runs24h'),
          runs
            .filterWhere('conclusion', '=', 'FAILURE')
            .filterWhere('started_at', '>', param('dayAgo'))
            .as('failures24h'),
          eb.fn
            .count<number>('pr_number')
            .distinct()
            .filterWhere(sql<boolean>`is_blocking`)
            .filterWhere('conclusion', '=', 'FAILURE')
            .as('pullRequestsImpacted7d'),
        ];
      }),
  );
}

/** The latest run of each group gives its summary; the groups of each test are ranked in the database. */
function groupStatement(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  type Window = { repositoryId: string; now: number; since: number };
  return compiler.list<Window, string>()((param, ids) =>
    builder
      .selectFrom(
        builder
          .selectFrom(failuresWithRecency(compiler, param, ids).as('failures'))
          .where('recency', '=', 1)
          .select((eb) => [
            'test_id',
            'failure_summary',
            'occurrences',
            'started_at',
            eb.fn
              .agg<number>('row_number')
              .over((over) =>
                over
                  .partitionBy('test_id')
                  .orderBy('occurrences', 'desc')
                  .orderBy('started_at', 'desc')
                  .orderBy('failure_group'),
              )
              .as('rank'),
          ])
          .as('ranked'),
      )
      .where('rank', '<=', GROUPS_SHOWN)
      .select((eb) => [
        'test_id',
        eb.fn.coalesce('failure_summary', sql<string>`''`).as('summary'),
        'occurrences',
        'started_at as lastAt',
      ])
      .orderBy('test_id')
      .orderBy('rank'),
  );
}

function failuresWithRecency(
  compiler: StatementCompiler,
  param: Placeholders<{ repositoryId: string; now: number; since: number }>,
  ids: string[],
) {
  return compiler.dialect.builder
    .selectFrom('test_runs')
    .where('repository_id', '=', param('repositoryId'))
    .where('test_id', 'in', ids)
    .where('conclusion', '=', 'FAILURE')
    .where('failure_group', 'is not', null)
    .where('started_at', '>=', param('since'))
    .where('started_at', '<=', param('now'))
    .select((eb) => [
      'test_id',
      'failure_group',
      'failure_summary',
      'started_at',
      eb.fn
        .countAll<number>()
        .over((over) => over.partitionBy('test_id').partitionBy('failure_group'))
        .as('occurrences'),
      eb.fn
        .agg<number>('row_number')
        .over((over) =>
          over
            .partitionBy('test_id')
            .partitionBy('failure_group')
            .orderBy('started_at', 'desc')
            .orderBy('seq', 'desc')
            .orderBy('failure_summary'),
        )
        .as('recency'),
    ]);
}

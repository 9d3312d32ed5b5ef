import type { TestStats, TestStore } from '../tests.ts';
import { allOf, type Operation } from './operation.ts';
import type { StatementCompiler } from './statement.ts';
import { FAILURE, SKIPPED, STORED_RUNS } from './stored-runs.ts';
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
        failureGroups: (groupsOf.get(no) ?? []).map(({ summary, occurrences, last_at: lastAt }) => ({
          summary,
          occurrences,
          lastAt,
        })),
      },
    ]),
  );
  return query.testIds.map((id) => stats.get(id) ?? NOTHING);
}

/** The groups of each test are ranked in the database; only of those that are shown the latest run is looked up. */
const RANKED_GROUPS = `(
    select test_no, failure_group, occurrences, last_at, row_number() over (
      partition by test_no order by occurrences desc, last_at desc, failure_group) as rank
    from (
      select test_no, failure_group, count(*) as occurrences, max(started_at) as last_at from test_failures
      where repository_id = :repositoryId and test_no in (:items) and started_at >= :since and started_at <= :now
      group by test_no, failure_group) as grouped
  ) as ranked`;

export function statsStatements({ sqlOfMany }: StatementCompiler) {
  return {
    countWeek: sqlOfMany(`
      select runs.test_no, count(*) as runs7d,
        count(*) filter (where runs.conclusion = ${FAILURE}) as failures7d,
        count(*) filter (where runs.started_at > :dayAgo) as runs24h,
        count(*) filter (where runs.started_at > :dayAgo and runs.conclusion = ${FAILURE}) as failures24h
      ${STORED_RUNS} and run_parts.first_started_at <= :now and runs.test_no in (:items)
      and runs.started_at <= :now and runs.conclusion <> ${SKIPPED} group by runs.test_no`),
    countImpacted: sqlOfMany(`
      select test_no, count(distinct pr_number) as total from test_failures
      where repository_id = :repositoryId and test_no in (:items) and started_at >= :since and started_at <= :now
      and is_blocking group by test_no`),
    groupFailures: sqlOfMany(`
      select ranked.test_no, ranked.occurrences, ranked.last_at, coalesce((
        select latest.summary from test_failures as latest
        where latest.repository_id = :repositoryId and latest.test_no = ranked.test_no
        and latest.started_at = ranked.last_at and latest.failure_group = ranked.failure_group
        order by latest.seq desc, latest.ordinal desc limit 1), '') as summary
      from ${RANKED_GROUPS} where rank <= ${GROUPS_SHOWN} order by ranked.test_no, ranked.rank`),
  };
}

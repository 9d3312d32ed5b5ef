import type { View } from '../../contract/schema.ts';
import type { Evidence as EvidenceSchema, ListedTest, TestCase } from '../../contract/test-details.ts';
import { DAY_MS } from '../../flaky/core/detector.ts';
import { suiteNameOf } from '../../flaky/core/paths.ts';
import type { OutcomeRef } from '../../flaky/core/run.ts';
import type { Evidence } from '../../flaky/core/state.ts';
import { dropBefore, firstFigureDay, lastDays, sumCounts } from '../../flaky/daily-counts.ts';
import { formatInstant, optionalInstant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import { snakeCase } from '../../lib/text.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { RankedTest, TestRow, TestStats } from '../../storage/tests.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { getRetentionStart } from './stored-test-settings.ts';

export type TestView = View<typeof TestCase>;
export type ListedTestView = View<typeof ListedTest>;

/** The address of the server, as its client sees it. */
export interface Place {
  readonly baseUrl: string;
}

export interface TestLinks {
  /** The server's own address, without a slash at the end. */
  readonly baseUrl: string;
  readonly orgSlug: string;
}

export async function viewTests(
  app: App,
  of: { readonly repository: Repository; readonly tests: readonly TestRow[]; readonly links: TestLinks },
): Promise<TestView[]> {
  if (of.tests.length === 0) return [];
  const stats = await readStats(app, of.repository, of.tests);
  return of.tests.map((test, index) => viewTest(test, stats[index] as TestStats, of));
}

/** The figures of tests, in their order. */
export async function readStats(
  app: App,
  repository: Repository,
  tests: readonly Pick<TestRow, 'id'>[],
): Promise<readonly TestStats[]> {
  const now = app.clock.now();
  const since = await getRetentionStart(app, repository, now);
  return app.store.tests.getStats({ repositoryId: repository.id, testIds: tests.map(({ id }) => id), now, since });
}

interface Shown {
  readonly repository: Repository;
  readonly links: TestLinks;
}

export function linksOf({ organization }: Caller, { baseUrl }: Place): TestLinks {
  return { baseUrl, orgSlug: organization.slug };
}

function viewTest(test: TestRow, stats: TestStats, of: Shown): TestView {
  return {
    ...viewIdentity(test, of),
    most_common_failures: stats.failureGroups.map((group) => ({
      summary: group.summary,
      occurrence_count: group.occurrences,
      last_occurrence: formatInstant(group.lastAt),
    })),
    failure_rate_last_7d: rate(stats.failures7d, stats.runs7d),
    failure_rate_last_24h: rate(stats.failures24h, stats.runs24h),
    pull_requests_impacted_last_7d: stats.pullRequestsImpacted7d,
  };
}

function viewIdentity(test: TestRow, { repository, links }: Shown) {
  return {
    id: test.id,
    repository: { html_url: repositoryLink(repository, links) },
    html_url: testLink(test.id, repository, links),
    name: test.name,
    variant: test.variant,
    status: { value: test.status, reason: test.statusReason, timestamp: formatInstant(test.statusAt) },
    codeowners: test.codeowners,
    quarantined: test.quarantinedAt !== null,
    ...present({ file_path: test.file, parent: test.parent, classname: test.classname }),
    ...present({ ticket: test.ticketUrl === null ? null : { html_url: test.ticketUrl } }),
  };
}

export function viewListed(ranked: RankedTest, of: Shown & { readonly today: number }): ListedTestView {
  const { runs, failures } = sumCounts(dropBefore(ranked.days, firstFigureDay(of.today)));
  return {
    ...viewIdentity(ranked.test, of),
    runs_last_30d: runs,
    failures_last_30d: failures,
    failure_rate_last_30d: rate(failures, runs),
    ...viewSuites(ranked.test),
    ...viewFigures(ranked, of.today),
  };
}

/** Decisions of earlier versions name no suites; the details of a test tell what these cover. */
// SPEC F83
export function viewSuites({ quarantinedAt, parent, override }: TestRow): { quarantined_suites?: readonly string[] } {
  const { suites = [] } = override ?? {};
  if (quarantinedAt === null || suites.length === 0) return {};
  return { quarantined_suites: suites.map((path) => suiteNameOf(parent, path)) };
}

/** Days that have left the window since the figures were stored do not count. */
export function viewFigures({ days, pullRequests, lastFailureAt }: Omit<RankedTest, 'test'>, today: number) {
  const shown = dropBefore(days, firstFigureDay(today));
  const { durationMs } = sumCounts(shown);
  const daily = lastDays(shown, today);
  return {
    pull_requests_impacted_last_30d: pullRequests,
    ...present({ average_duration_ms: durationMs, last_failure_at: optionalInstant(lastFailureAt) }),
    daily: {
      first_day: formatInstant(firstFigureDay(today) * DAY_MS).slice(0, 10),
      runs: daily.map((day) => day.runs),
      failures: daily.map((day) => day.failures),
    },
  };
}

export function testLink(testId: string, repository: Repository, { baseUrl, orgSlug }: TestLinks): string {
  const repo = encodeURIComponent(`${repository.owner}/${repository.name}`);
  const host = encodeURIComponent(repository.host);
  return `${baseUrl}/${orgSlug}/flaky-tests/test/${testId}?repo=${repo}&host=${host}`;
}

/** A plain git repository has no page but ours. */
function repositoryLink({ host, owner, name }: Repository, { baseUrl, orgSlug }: TestLinks): string {
  if (host !== 'local') return `https://${host}/${owner}/${name}`;
  return `${baseUrl}/${orgSlug}/flaky-tests?repo=${encodeURIComponent(`${owner}/${name}`)}`;
}

// SPEC P5
function rate(failures: number, runs: number): number {
  return runs === 0 ? 0 : failures / runs;
}

type EvidenceView = View<typeof EvidenceSchema>;

function viewOutcome({ sha, uploadId, candidateId }: OutcomeRef) {
  return { sha, upload_id: uploadId, ...present({ test_run_id: candidateId }) };
}

// SPEC F88
export function viewEvidence({ runs, figures }: Evidence): EvidenceView {
  return {
    runs: runs.map(({ at, sha, branch, uploadId, job, prNumber, tree, failed, passed }) => ({
      at: formatInstant(at),
      sha,
      branch,
      upload_id: uploadId,
      ...present({ job: job || null, pr_number: prNumber, tree }),
      ...present({ failed: failed && viewOutcome(failed), passed: passed && viewOutcome(passed) }),
    })),
    figures: Object.entries(figures).map(([name, value]) => ({ name: snakeCase(name), value })),
  };
}

import type * as flakyTestsContract from '../../contract/flaky-tests.ts';
import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import { REVIEW_AFTER_DAYS, reviewOf } from '../../flaky/quarantine.ts';
import { formatInstant, type Instant, optionalInstant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import type { Repository } from '../../storage/repositories.ts';
import { overrideOf } from '../../storage/test-codec.ts';
import type { RunCounts, TestRow } from '../../storage/tests.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findTestScope, listPage } from '../core/list-page.ts';
import { type Answer, isRefusal } from '../core/refusal.ts';
import { getRetentionStart } from './stored-test-settings.ts';
import { viewSuites } from './test-view.ts';

const DAY_MS = 24 * 3_600_000;

type Review = NonNullable<ReturnType<typeof reviewOf>>;

type QuarantinedPage = ReplyOf<typeof flakyTestsContract.listQuarantinedTests>;
export type QuarantinedTestView = QuarantinedPage['quarantined_tests'][number];

export async function listQuarantinedTests(
  app: App,
  caller: Caller,
  input: RequestOf<typeof flakyTestsContract.listQuarantinedTests>,
  { dialect: { hasReviews } }: { readonly dialect: { readonly hasReviews: boolean } },
): Answer<QuarantinedPage> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const read = await listPage(app, { repository, asked: ['quarantined'], page: input.page_query }, (query) =>
    app.store.tests.listQuarantined(query),
  );
  if (isRefusal(read)) return read;
  const { tests } = read.list;
  const now = app.clock.now();
  const reviews = hasReviews ? await reviewAll(app, { repository, tests, now }) : [];
  const rows = tests.map((test, index) => ({ test, review: reviews[index] }));
  // The others are left out of the pages, whose numbering stays that of the whole list.
  const shown = hasReviews && input.only_to_review ? rows.filter(({ review }) => review !== undefined) : rows;
  return {
    quarantined_tests: shown.map(({ test, review }) => viewQuarantined(test, review, { now, hasReviews })),
    page: read.page,
  };
}

/** Runs are counted only for tests that have been quarantined long enough. */
async function reviewAll(
  app: App,
  of: { readonly repository: Repository; readonly tests: readonly TestRow[]; readonly now: Instant },
): Promise<readonly (Review | undefined)[]> {
  const { repository, tests, now } = of;
  const oldest = await getRetentionStart(app, repository, now);
  const asked = tests.flatMap(({ id, quarantinedAt }) =>
    quarantinedAt === null || quarantinedAt > now - REVIEW_AFTER_DAYS * DAY_MS
      ? []
      : [{ testId: id, quarantinedAt, since: Math.max(quarantinedAt, oldest) }],
  );
  if (asked.length === 0) return [];
  const counts = await app.store.tests.countRuns(repository.id, asked);
  const reviews = new Map(
    asked.map(({ testId, quarantinedAt }, index) => [
      testId,
      reviewOf({ quarantinedAt, ...(counts[index] as RunCounts) }, now),
    ]),
  );
  return tests.map((test) => reviews.get(test.id));
}

function viewQuarantined(
  test: TestRow,
  review: Review | undefined,
  { now, hasReviews }: { readonly now: Instant; readonly hasReviews: boolean },
): QuarantinedTestView {
  const override = overrideOf(test);
  const isAlways = override?.mode === 'ALWAYS_QUARANTINE' && (override.expiresAt ?? Infinity) > now;

  return {
    name: test.name,
    ...present({ parent: test.parent, file: test.file, classname: test.classname, review }),
    status: test.status,
    codeowners: test.codeowners,
    quarantine_setting: isAlways ? 'ALWAYS_QUARANTINE' : 'AUTO_QUARANTINE',
    // A page is as of its watermark. A test that was released since then shows when its status changed.
    quarantined_at: formatInstant(test.quarantinedAt ?? test.statusAt),
    status_last_updated_at: formatInstant(test.statusAt),
    test_case_id: test.id,
    variant: test.variant,
    ...present({ expires_at: isAlways && hasReviews ? optionalInstant(override.expiresAt) : null }),
    ...(hasReviews && viewSuites(test)),
  };
}

import type { Migration } from './migration.ts';

/** Tests that are flaky, broken or quarantined are few: an index has them with all that lists are sorted and filtered by. */
export const markedTests: Migration = {
  name: 'marked tests',
  statements: () => [
    `create index test_figures_marked on test_figures (
      repository_id, test_no, status, is_quarantined, pull_requests, failures, failure_ppm, duration_us, last_failure_at
    ) where status <> 'HEALTHY' or is_quarantined`,
  ],
};

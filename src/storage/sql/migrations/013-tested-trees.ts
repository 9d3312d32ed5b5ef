import type { Migration } from './migration.ts';

/** The tree and candidate that a batch of runs tested. Batches that 0.2.0 and earlier versions store have none. */
export const testedTrees: Migration = {
  name: 'tested trees',
  statements: () => [
    'alter table test_batches add column tree TEXT',
    'alter table test_batches add column candidate_id TEXT',
    'create index test_batches_by_tree on test_batches (repository_id, tree, job, seq) where tree is not null',
  ],
};

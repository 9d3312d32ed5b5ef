import type { Migration } from './migration.ts';

/** Commits whose events wait for places. PostgreSQL has this index from the beginning (`feed in changes`). */
export const waitingChanges: Migration = {
  name: 'waiting changes',
  statements: ({ hasRowLocks }) =>
    hasRowLocks
      ? []
      : ['create index queue_changes_waiting on queue_changes (queue_id, version) where feed is not null'],
};

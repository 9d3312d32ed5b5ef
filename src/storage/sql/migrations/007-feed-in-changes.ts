import type { Migration } from './migration.ts';

/** Events of a queue wait for their places in the row that each commit writes anyway. */
export const feedInChanges: Migration = {
  name: 'feed in changes',
  statements: ({ hasRowLocks }) => [
    'alter table queue_changes add column feed TEXT',
    ...(hasRowLocks
      ? ['create index queue_changes_waiting on queue_changes (queue_id, version) where feed is not null']
      : []),
  ],
};

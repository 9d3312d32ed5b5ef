import type { Migration } from './migration.ts';

const FIELDS = [
  ...[`'source', source`, `'version', version`, `'ordinal', ordinal`, `'at', at`, `'type', type`],
  ...[`'organizationId', organization_id`, `'repositoryId', repository_id`, `'queueId', queue_id`],
  ...[`'targetBranch', target_branch`, `'prNumber', pr_number`, `'testId', test_id`, `'body', body`],
].join(', ');

/** Events without a place are in a table of their own, one row for each transaction, so that a commit writes less. */
export const feedWaiting: Migration = {
  name: 'feed waiting',
  statements: ({ hasArrays }) => {
    const event = hasArrays ? `json_build_object(${FIELDS})::text` : `json_object(${FIELDS})`;
    return [
      `create table feed_waiting (
        source TEXT not null, version bigint not null, part bigint not null, organization_id TEXT, repository_id TEXT,
        size bigint not null, events TEXT not null,
        primary key (source, version, part)
      ) CLUSTERED`,
      `insert into feed_waiting select source, version, ordinal, organization_id, repository_id, 1, '[' || ${event} || ']'
        from feed where seq is null`,
      'delete from feed where seq is null',
      'drop index feed_without_place',
    ];
  },
};

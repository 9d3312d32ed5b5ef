import { sql } from 'kysely';
import type { Migration, MigrationContext } from './migration.ts';

export const accountsRepositoriesQueues: Migration = {
  name: '001-accounts-repositories-queues',
  statements: (context) => [...accounts(context), ...queues(context), ...entries(context), ...targets(context)],
};

function accounts({ schema, types }: MigrationContext) {
  return [
    schema
      .createTable('meta')
      .addColumn('name', types.text, (c) => c.primaryKey())
      .addColumn('value', types.text, (c) => c.notNull()),
    schema
      .createTable('organizations')
      .addColumn('id', types.text, (c) => c.primaryKey())
      .addColumn('slug', types.text, (c) => c.notNull().unique())
      .addColumn('created_at', types.integer, (c) => c.notNull()),
    schema
      .createTable('tokens')
      .addColumn('id', types.text, (c) => c.primaryKey())
      .addColumn('organization_id', types.text, (c) => c.notNull().references('organizations.id'))
      .addColumn('name', types.text, (c) => c.notNull())
      .addColumn('hash', types.text, (c) => c.notNull().unique())
      .addColumn('scopes', types.text, (c) => c.notNull())
      .addColumn('repository_ids', types.text)
      .addColumn('origin', types.text, (c) => c.notNull())
      .addColumn('created_at', types.integer, (c) => c.notNull())
      .addColumn('expires_at', types.integer)
      .addColumn('revoked_at', types.integer)
      .addColumn('last_used_at', types.integer),
    schema.createIndex('tokens_by_organization').on('tokens').columns(['organization_id', 'created_at', 'id']),
    schema
      .createTable('repositories')
      .addColumn('id', types.text, (c) => c.primaryKey())
      .addColumn('organization_id', types.text, (c) => c.notNull().references('organizations.id'))
      .addColumn('host', types.text, (c) => c.notNull())
      .addColumn('owner', types.text, (c) => c.notNull())
      .addColumn('name', types.text, (c) => c.notNull())
      .addColumn('git', types.text)
      .addColumn('checks', types.text, (c) => c.notNull())
      .addColumn('junit', types.text, (c) => c.notNull())
      .addColumn('created_at', types.integer, (c) => c.notNull())
      .addColumn('updated_at', types.integer, (c) => c.notNull())
      .addUniqueConstraint('repositories_by_reference', ['organization_id', 'host', 'owner', 'name']),
  ];
}

/** What hangs on a queue has no foreign key to it: every commit has moved the queue's row in the same transaction. */
function queues({ schema, types }: MigrationContext) {
  return [
    schema
      .createTable('queues')
      .addColumn('id', types.text, (c) => c.primaryKey())
      .addColumn('repository_id', types.text, (c) => c.notNull().references('repositories.id'))
      .addColumn('branch', types.text, (c) => c.notNull())
      .addColumn('version', types.integer, (c) => c.notNull())
      .addColumn('body', types.text, (c) => c.notNull())
      .addColumn('created_at', types.integer, (c) => c.notNull())
      .addColumn('deleted_at', types.integer),
    schema
      .createIndex('queues_by_branch')
      .unique()
      .on('queues')
      .columns(['repository_id', 'branch'])
      .where(sql.ref('deleted_at'), 'is', null),
    schema
      .createTable('queue_events')
      .addColumn('queue_id', types.text, (c) => c.notNull())
      .addColumn('version', types.integer, (c) => c.notNull())
      .addColumn('at', types.integer, (c) => c.notNull())
      .addColumn('kind', types.text, (c) => c.notNull())
      .addColumn('body', types.text, (c) => c.notNull())
      .addPrimaryKeyConstraint('queue_events_key', ['queue_id', 'version'])
      .modifyEnd(types.clustered),
    schema
      .createTable('effects')
      .addColumn('queue_id', types.text, (c) => c.notNull())
      .addColumn('id', types.text, (c) => c.notNull())
      .addColumn('version', types.integer, (c) => c.notNull())
      .addColumn('ordinal', types.integer, (c) => c.notNull())
      .addColumn('kind', types.text, (c) => c.notNull())
      .addColumn('due_at', types.integer, (c) => c.notNull())
      .addColumn('body', types.text, (c) => c.notNull())
      .addPrimaryKeyConstraint('effects_key', ['queue_id', 'id']),
  ];
}

/**
 * Each index serves one query, whose cost must not grow with the entries that ended long ago. Keys begin with what
 * grows (numbers, instants, versions): ids are random, and every commit would touch pages all over the database.
 */
function entries({ schema, types }: MigrationContext) {
  return [
    schema
      .createTable('entries')
      .addColumn('id', types.text, (c) => c.primaryKey())
      .addColumn('queue_id', types.text, (c) => c.notNull())
      .addColumn('pr_number', types.integer, (c) => c.notNull())
      .addColumn('version', types.integer, (c) => c.notNull())
      .addColumn('is_live', types.boolean, (c) => c.notNull())
      .addColumn('state', types.text, (c) => c.notNull())
      .addColumn('submitted_at', types.integer, (c) => c.notNull())
      .addColumn('targets_digest', types.text)
      .addColumn('body', types.text, (c) => c.notNull())
      .addUniqueConstraint('entries_by_pull_request', ['queue_id', 'pr_number']),
    schema.createIndex('entries_by_version').on('entries').columns(['queue_id', 'is_live', 'version']),
    schema.createIndex('entries_by_submission').on('entries').columns(['queue_id', 'submitted_at desc', 'id']),
    schema.createIndex('entries_by_state').on('entries').columns(['queue_id', 'state', 'submitted_at desc', 'id']),
    schema
      .createTable('transitions')
      .addColumn('queue_id', types.text, (c) => c.notNull())
      .addColumn('entry_id', types.text, (c) => c.notNull())
      .addColumn('pr_number', types.integer, (c) => c.notNull())
      .addColumn('version', types.integer, (c) => c.notNull())
      .addColumn('ordinal', types.integer, (c) => c.notNull())
      .addColumn('at', types.integer, (c) => c.notNull())
      .addColumn('from_state', types.text)
      .addColumn('to_state', types.text, (c) => c.notNull())
      .addColumn('is_bisection', types.boolean, (c) => c.notNull())
      .addColumn('duration_ms', types.integer)
      .addColumn('in_queue_ms', types.integer)
      .addColumn('body', types.text, (c) => c.notNull())
      .addPrimaryKeyConstraint('transitions_key', ['queue_id', 'pr_number', 'version', 'ordinal'])
      .modifyEnd(types.clustered),
    schema.createIndex('transitions_by_instant').on('transitions').columns(['queue_id', 'at', 'from_state']),
    schema
      .createIndex('transitions_concluding')
      .on('transitions')
      .columns(['queue_id', 'at'])
      .where(sql<boolean>`to_state in ('MERGED', 'FAILED', 'CANCELLED')`),
  ];
}

function targets({ schema, types }: MigrationContext) {
  return [
    schema
      .createTable('target_sets')
      .addColumn('digest', types.text, (c) => c.primaryKey())
      .addColumn('body', types.text, (c) => c.notNull()),
    schema
      .createTable('impacted_targets')
      .addColumn('queue_id', types.text, (c) => c.notNull())
      .addColumn('pr_number', types.integer, (c) => c.notNull())
      .addColumn('sha', types.text, (c) => c.notNull())
      .addColumn('body', types.text, (c) => c.notNull())
      .addColumn('targets_digest', types.text)
      .addColumn('set_at', types.integer, (c) => c.notNull())
      .addPrimaryKeyConstraint('impacted_targets_key', ['queue_id', 'pr_number', 'sha']),
  ];
}

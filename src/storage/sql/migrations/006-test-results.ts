import { sql } from 'kysely';
import type { Migration, MigrationContext } from './migration.ts';
import { runTables } from './run-tables.ts';

/** No server of before wrote results, so what there is of them goes. */
export const testResults: Migration = {
  name: '006-test-results',
  statements: (context) => [
    ...(['test_runs', 'test_states', 'tests', 'test_sequences'] as const).map((table) =>
      context.schema.dropTable(table),
    ),
    ...identities(context),
    ...batches(context),
    ...runTables(context),
    ...failures(context),
    ...events(context),
    ...uploads(context),
    ...settings(context),
  ],
};

function identities({ schema, types }: MigrationContext) {
  return [
    schema
      .createTable('test_sequences')
      .addColumn('repository_id', types.text, (c) => c.primaryKey().references('repositories.id'))
      .addColumn('last_seq', types.integer, (c) => c.notNull())
      .addColumn('last_test_no', types.integer, (c) => c.notNull())
      .addColumn('quarantine_version', types.integer, (c) => c.notNull())
      .addColumn('forgotten_seq', types.integer, (c) => c.notNull())
      .addColumn('counted_seq', types.integer, (c) => c.notNull()),
    testsTable({ schema, types }),
    schema.createIndex('tests_by_number').unique().on('tests').columns(['repository_id', 'no']),
    // Tests are searched in the order of their names, without their rows.
    ...(types.hasLongKeys
      ? [schema.createIndex('tests_by_name').on('tests').columns(['repository_id', 'name', 'id', 'search_text'])]
      : []),
    schema
      .createTable('test_states')
      .addColumn('repository_id', types.text, (c) => c.notNull())
      .addColumn('kind', types.text, (c) => c.notNull())
      .addColumn('test_id', types.text, (c) => c.notNull())
      .addColumn('from_seq', types.integer, (c) => c.notNull())
      .addColumn('to_seq', types.integer)
      .addPrimaryKeyConstraint('test_states_key', ['repository_id', 'kind', 'test_id', 'from_seq'])
      .modifyEnd(types.clustered),
    schema
      .createTable('test_memories')
      .addColumn('repository_id', types.text, (c) => c.notNull())
      .addColumn('test_no', types.integer, (c) => c.notNull())
      .addColumn('seq', types.integer, (c) => c.notNull())
      .addColumn('next_check_at', types.integer)
      .addColumn('settings_version', types.integer, (c) => c.notNull())
      .addColumn('last_run_at', types.integer)
      .addColumn('state', types.text, (c) => c.notNull())
      .addPrimaryKeyConstraint('test_memories_key', ['repository_id', 'test_no']),
    schema
      .createIndex('test_memories_due')
      .on('test_memories')
      .columns(['next_check_at'])
      .where(sql.ref('next_check_at'), 'is not', null),
  ];
}

function testsTable({ schema, types }: Pick<MigrationContext, 'schema' | 'types'>) {
  return schema
    .createTable('tests')
    .addColumn('repository_id', types.text, (c) => c.notNull())
    .addColumn('id', types.text, (c) => c.notNull())
    .addColumn('no', types.integer, (c) => c.notNull())
    .addColumn('name', types.text, (c) => c.notNull())
    .addColumn('variant', types.text, (c) => c.notNull())
    .addColumn('parent', types.text)
    .addColumn('classname', types.text)
    .addColumn('file', types.text)
    .addColumn('codeowners', types.text, (c) => c.notNull())
    .addColumn('first_seen_at', types.integer, (c) => c.notNull())
    .addColumn('status', types.text, (c) => c.notNull())
    .addColumn('status_reason', types.text, (c) => c.notNull())
    .addColumn('status_at', types.integer, (c) => c.notNull())
    .addColumn('quarantine_override', types.text, (c) => c.notNull())
    .addColumn('override', types.text)
    .addColumn('quarantined_at', types.integer)
    .addColumn('is_flagged', types.boolean, (c) => c.notNull())
    .addColumn('labels', types.text, (c) => c.notNull())
    .addColumn('ticket_url', types.text)
    .addColumn('search_text', types.text, (c) => c.notNull())
    .addPrimaryKeyConstraint('tests_key', ['repository_id', 'id']);
}

/** Tables with large rows are not clustered: the tree that is searched would be deep. */
function batches({ schema, types }: MigrationContext) {
  return [
    schema
      .createTable('test_batches')
      .addColumn('repository_id', types.text, (c) => c.notNull())
      .addColumn('seq', types.integer, (c) => c.notNull())
      .addColumn('upload_id', types.text, (c) => c.notNull())
      .addColumn('branch', types.text, (c) => c.notNull())
      .addColumn('sha', types.text, (c) => c.notNull())
      .addColumn('job', types.text, (c) => c.notNull())
      .addColumn('job_attempt', types.integer)
      .addColumn('job_name', types.text, (c) => c.notNull())
      .addColumn('job_url', types.text)
      .addColumn('pr_number', types.integer)
      .addColumn('is_fork', types.boolean, (c) => c.notNull())
      .addColumn('received_at', types.integer, (c) => c.notNull())
      .addColumn('part', 'integer')
      .addColumn('run_count', 'integer', (c) => c.notNull())
      .addPrimaryKeyConstraint('test_batches_key', ['repository_id', 'seq']),
    schema.createIndex('test_batches_by_commit').on('test_batches').columns(['repository_id', 'sha', 'job', 'seq']),
  ];
}

/** What is counted and grouped is stored by test, apart from the texts, which are many times larger. */
function failures({ schema, types }: MigrationContext) {
  return [
    schema
      .createTable('test_failures')
      .addColumn('repository_id', types.text, (c) => c.notNull())
      .addColumn('test_no', types.integer, (c) => c.notNull())
      .addColumn('started_at', types.integer, (c) => c.notNull())
      .addColumn('seq', types.integer, (c) => c.notNull())
      .addColumn('ordinal', types.integer, (c) => c.notNull())
      .addColumn('pr_number', types.integer)
      .addColumn('is_blocking', types.boolean, (c) => c.notNull())
      .addColumn('is_quarantined', types.boolean, (c) => c.notNull())
      .addColumn('failure_group', types.text, (c) => c.notNull())
      .addColumn('summary', types.text, (c) => c.notNull())
      .addPrimaryKeyConstraint('test_failures_key', ['repository_id', 'test_no', 'started_at', 'seq', 'ordinal'])
      .modifyEnd(types.clustered),
    schema
      .createIndex('test_failures_by_time')
      .on('test_failures')
      .columns(['repository_id', 'started_at', 'test_no', 'seq']),
    schema
      .createTable('test_failure_texts')
      .addColumn('repository_id', types.text, (c) => c.notNull())
      .addColumn('seq', types.integer, (c) => c.notNull())
      .addColumn('ordinal', types.integer, (c) => c.notNull())
      .addColumn('test_no', types.integer, (c) => c.notNull())
      .addColumn('started_at', types.integer, (c) => c.notNull())
      .addColumn('text', types.text, (c) => c.notNull())
      .addPrimaryKeyConstraint('test_failure_texts_key', ['repository_id', 'seq', 'ordinal']),
  ];
}

function events({ schema, types }: MigrationContext) {
  return [
    schema
      .createTable('test_events')
      .addColumn('repository_id', types.text, (c) => c.notNull())
      .addColumn('test_id', types.text, (c) => c.notNull())
      .addColumn('at', types.integer, (c) => c.notNull())
      .addColumn('seq', types.integer, (c) => c.notNull())
      .addColumn('ordinal', types.integer, (c) => c.notNull())
      .addColumn('kind', types.text, (c) => c.notNull())
      .addColumn('actor', types.text)
      .addColumn('detail', types.text, (c) => c.notNull())
      .addPrimaryKeyConstraint('test_events_key', ['repository_id', 'test_id', 'at', 'seq', 'ordinal']),
    schema.createIndex('test_events_by_time').on('test_events').columns(['repository_id', 'at']),
    schema
      .createTable('check_results')
      .addColumn('repository_id', types.text, (c) => c.notNull())
      .addColumn('candidate_id', types.text, (c) => c.notNull())
      .addColumn('check_name', types.text, (c) => c.notNull())
      .addColumn('body', types.text, (c) => c.notNull())
      .addColumn('at', types.integer, (c) => c.notNull())
      .addPrimaryKeyConstraint('check_results_key', ['repository_id', 'candidate_id', 'check_name']),
    schema.createIndex('check_results_by_time').on('check_results').columns(['repository_id', 'at']),
  ];
}

function uploads({ schema, types }: MigrationContext) {
  const isWaiting = sql<boolean>`status = 'ACCEPTED'`;
  return [
    uploadsTable({ schema, types }),
    schema.createIndex('uploads_by_number').unique().on('uploads').columns(['repository_id', 'no']),
    schema.createIndex('uploads_waiting').on('uploads').columns(['received_at']).where(isWaiting),
    schema.createIndex('uploads_waiting_of').on('uploads').columns(['repository_id', 'no']).where(isWaiting),
    schema
      .createIndex('uploads_by_digest')
      .on('uploads')
      .columns(['repository_id', 'digest'])
      .where(sql.ref('digest'), 'is not', null),
    schema.createIndex('uploads_by_body').unique().on('uploads').columns(['body_id']),
    schema.createIndex('uploads_by_age').on('uploads').columns(['received_at']),
    schema
      .createTable('upload_sequences')
      .addColumn('repository_id', types.text, (c) => c.primaryKey().references('repositories.id'))
      .addColumn('last_no', types.integer, (c) => c.notNull()),
    schema
      .createTable('upload_bodies')
      .addColumn('id', types.text, (c) => c.primaryKey())
      .addColumn('pieces', types.integer, (c) => c.notNull())
      .addColumn('size_bytes', types.integer, (c) => c.notNull())
      .addColumn('last_at', types.integer, (c) => c.notNull()),
    schema.createIndex('upload_bodies_by_age').on('upload_bodies').columns(['last_at']),
    schema
      .createTable('upload_pieces')
      .addColumn('body_id', types.text, (c) => c.notNull())
      .addColumn('file_no', types.integer, (c) => c.notNull())
      .addColumn('piece', types.integer, (c) => c.notNull())
      .addColumn('data', types.bytes, (c) => c.notNull())
      .addPrimaryKeyConstraint('upload_pieces_key', ['body_id', 'file_no', 'piece']),
    schema
      .createTable('ingest_leases')
      .addColumn('repository_id', types.text, (c) => c.primaryKey())
      .addColumn('holder', types.text, (c) => c.notNull())
      .addColumn('until', types.integer, (c) => c.notNull()),
  ];
}

function uploadsTable({ schema, types }: Pick<MigrationContext, 'schema' | 'types'>) {
  return schema
    .createTable('uploads')
    .addColumn('id', types.text, (c) => c.primaryKey())
    .addColumn('repository_id', types.text, (c) => c.notNull().references('repositories.id'))
    .addColumn('no', types.integer)
    .addColumn('kind', types.text, (c) => c.notNull())
    .addColumn('status', types.text, (c) => c.notNull())
    .addColumn('received_at', types.integer, (c) => c.notNull())
    .addColumn('processed_at', types.integer)
    .addColumn('fields', types.text)
    .addColumn('candidate_id', types.text)
    .addColumn('check_name', types.text)
    .addColumn('body_id', types.text)
    .addColumn('files', types.text, (c) => c.notNull())
    .addColumn('size_bytes', types.integer, (c) => c.notNull())
    .addColumn('parts_done', types.integer, (c) => c.notNull())
    .addColumn('test_runs', types.integer, (c) => c.notNull())
    .addColumn('issues', types.text, (c) => c.notNull())
    .addColumn('digest', types.text)
    .addColumn('client_version', types.text)
    .addColumn('attempts', types.integer, (c) => c.notNull())
    .addColumn('trouble', types.text)
    .addColumn('retry_at', types.integer);
}

function settings({ schema, types }: MigrationContext) {
  return [
    schema
      .createTable('test_settings')
      .addColumn('repository_id', types.text, (c) => c.primaryKey().references('repositories.id'))
      .addColumn('version', types.integer, (c) => c.notNull())
      .addColumn('settings', types.text, (c) => c.notNull())
      .addColumn('monitors', types.text, (c) => c.notNull())
      .addColumn('applied_version', types.integer, (c) => c.notNull())
      .addColumn('applied_monitors', types.text, (c) => c.notNull())
      .addColumn('actor', types.text)
      .addColumn('changed_at', types.integer),
    schema
      .createIndex('test_settings_behind')
      .on('test_settings')
      .columns(['repository_id'])
      .where(sql<boolean>`applied_version < version`),
    schema
      .createTable('test_setting_changes')
      .addColumn('repository_id', types.text, (c) => c.notNull())
      .addColumn('version', types.integer, (c) => c.notNull())
      .addColumn('at', types.integer, (c) => c.notNull())
      .addColumn('actor', types.text, (c) => c.notNull())
      .addColumn('detail', types.text, (c) => c.notNull())
      .addColumn('monitors', types.text, (c) => c.notNull())
      .addPrimaryKeyConstraint('test_setting_changes_key', ['repository_id', 'version']),
  ];
}

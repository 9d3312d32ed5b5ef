import { sql } from 'kysely';
import type { Migration, MigrationContext } from './migration.ts';

export const tests: Migration = {
  name: '002-tests',
  statements: (context) => [...identities(context), ...runs(context)],
};

function identities({ schema, types }: MigrationContext) {
  return [
    schema
      .createTable('test_sequences')
      .addColumn('repository_id', types.text, (c) => c.primaryKey().references('repositories.id'))
      .addColumn('last_seq', types.integer, (c) => c.notNull()),
    schema
      .createTable('tests')
      .addColumn('repository_id', types.text, (c) => c.notNull())
      .addColumn('id', types.text, (c) => c.notNull())
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
      .addColumn('quarantined_at', types.integer)
      .addColumn('ticket_url', types.text)
      .addPrimaryKeyConstraint('tests_key', ['repository_id', 'id']),
    schema
      .createTable('test_states')
      .addColumn('repository_id', types.text, (c) => c.notNull())
      .addColumn('kind', types.text, (c) => c.notNull())
      .addColumn('test_id', types.text, (c) => c.notNull())
      .addColumn('from_seq', types.integer, (c) => c.notNull())
      .addColumn('to_seq', types.integer)
      .addPrimaryKeyConstraint('test_states_key', ['repository_id', 'kind', 'test_id', 'from_seq'])
      .modifyEnd(types.clustered),
  ];
}

/** Passing runs are nearly all of them; either index lets questions about failures pass them by. */
function runs({ schema, types }: MigrationContext) {
  return [
    schema
      .createTable('test_runs')
      .addColumn('repository_id', types.text, (c) => c.notNull())
      .addColumn('test_id', types.text, (c) => c.notNull())
      .addColumn('seq', types.integer, (c) => c.notNull())
      .addColumn('started_at', types.integer, (c) => c.notNull())
      .addColumn('conclusion', types.text, (c) => c.notNull())
      .addColumn('duration_ms', types.real)
      .addColumn('branch', types.text, (c) => c.notNull())
      .addColumn('sha', types.text, (c) => c.notNull())
      .addColumn('pr_number', types.integer)
      .addColumn('is_blocking', types.boolean, (c) => c.notNull())
      .addColumn('failure_group', types.text)
      .addColumn('failure_summary', types.text),
    schema
      .createIndex('test_runs_by_test')
      .on('test_runs')
      .columns(['repository_id', 'test_id', 'conclusion', 'started_at']),
    schema
      .createIndex('test_runs_failing')
      .on('test_runs')
      .columns(['repository_id', 'started_at', 'test_id', 'seq'])
      .where(sql<boolean>`conclusion = 'FAILURE'`),
  ];
}

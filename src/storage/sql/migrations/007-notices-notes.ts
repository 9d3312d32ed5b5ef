import { sql } from 'kysely';
import type { Migration, MigrationContext } from './migration.ts';

export const noticesNotes: Migration = {
  name: '007-notices-notes',
  statements: (context) => [...notices(context), ...notes(context)],
};

/** They name repositories as a forge does: which of ours that is, is known when somebody looks. */
function notices({ schema, types }: MigrationContext) {
  return [
    schema
      .createTable('notices')
      .addColumn('host', types.text, (c) => c.notNull())
      .addColumn('key', types.text, (c) => c.notNull())
      .addColumn('kind', types.text, (c) => c.notNull())
      .addColumn('body', types.text, (c) => c.notNull())
      .addColumn('received_at', types.integer, (c) => c.notNull())
      .addColumn('due_at', types.integer, (c) => c.notNull())
      .addColumn('version', types.integer, (c) => c.notNull())
      .addColumn('attempts', types.integer, (c) => c.notNull())
      .addColumn('lease_holder', types.text)
      .addColumn('lease_until', types.integer)
      .addColumn('remembered_until', types.integer)
      .addPrimaryKeyConstraint('notices_key', ['host', 'key'])
      .modifyEnd(types.clustered),
    schema
      .createIndex('notices_by_due_time')
      .on('notices')
      .columns(['due_at', 'host', 'key'])
      .where(sql.ref('remembered_until'), 'is', null),
    schema
      .createIndex('notices_leased')
      .on('notices')
      .columns(['lease_until'])
      .where(sql.ref('lease_until'), 'is not', null),
    schema
      .createIndex('notices_remembered')
      .on('notices')
      .columns(['remembered_until'])
      .where(sql.ref('remembered_until'), 'is not', null),
  ];
}

function notes({ schema, types }: MigrationContext) {
  return [
    schema
      .createTable('pull_request_notes')
      .addColumn('repository_id', types.text, (c) => c.notNull())
      .addColumn('pr_number', types.integer, (c) => c.notNull())
      .addColumn('version', types.integer, (c) => c.notNull())
      .addColumn('body', types.text, (c) => c.notNull())
      .addPrimaryKeyConstraint('pull_request_notes_key', ['repository_id', 'pr_number']),
  ];
}

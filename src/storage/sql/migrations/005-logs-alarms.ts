import type { Migration, MigrationContext } from './migration.ts';

export const logsAlarms: Migration = {
  name: '005-logs-alarms',
  statements: (context) => [...logs(context), ...alarms(context)],
};

/** Logs outlive what they are about until they are old, so they name it without a foreign key. */
function logs({ schema, types }: MigrationContext) {
  return [
    schema
      .createTable('logs')
      .addColumn('candidate_id', types.text, (c) => c.notNull())
      .addColumn('check_name', types.text, (c) => c.notNull())
      .addColumn('size', types.integer, (c) => c.notNull())
      .addColumn('last_at', types.integer, (c) => c.notNull())
      .addPrimaryKeyConstraint('logs_key', ['candidate_id', 'check_name'])
      .modifyEnd(types.clustered),
    schema.createIndex('logs_by_age').on('logs').columns(['last_at']),
    // Not clustered: with rows this large in it, the tree that is searched would be deep.
    schema
      .createTable('log_chunks')
      .addColumn('candidate_id', types.text, (c) => c.notNull())
      .addColumn('check_name', types.text, (c) => c.notNull())
      .addColumn('start', types.integer, (c) => c.notNull())
      .addColumn('length', types.integer, (c) => c.notNull())
      .addColumn('encoding', types.text, (c) => c.notNull())
      .addColumn('data', types.bytes, (c) => c.notNull())
      .addPrimaryKeyConstraint('log_chunks_key', ['candidate_id', 'check_name', 'start']),
  ];
}

/** Without foreign keys too: a finding about a queue that is being removed is no error. */
function alarms({ schema, types }: MigrationContext) {
  return [
    schema
      .createTable('alarms')
      .addColumn('id', types.text, (c) => c.primaryKey())
      .addColumn('queue_id', types.text, (c) => c.notNull())
      .addColumn('code', types.text, (c) => c.notNull())
      .addColumn('text', types.text, (c) => c.notNull())
      .addColumn('at', types.integer, (c) => c.notNull()),
    schema.createIndex('alarms_by_time').on('alarms').columns(['queue_id', 'at']),
    schema.createIndex('alarms_by_code').on('alarms').columns(['queue_id', 'code']),
    schema
      .createTable('audit_marks')
      .addColumn('queue_id', types.text, (c) => c.primaryKey())
      .addColumn('sha', types.text)
      .addColumn('version', types.integer, (c) => c.notNull())
      .addColumn('at', types.integer, (c) => c.notNull()),
  ];
}

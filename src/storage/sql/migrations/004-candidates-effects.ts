import { sql } from 'kysely';
import type { Migration, MigrationContext } from './migration.ts';

export const candidatesEffects: Migration = {
  name: '004-candidates-effects',
  statements: (context) => [...candidates(context), ...effects(context)],
};

function candidates({ schema, types }: MigrationContext) {
  return [
    schema
      .createTable('candidates')
      .addColumn('queue_id', types.text, (c) => c.notNull())
      .addColumn('number', types.integer, (c) => c.notNull())
      .addColumn('id', types.text, (c) => c.notNull())
      .addColumn('version', types.integer, (c) => c.notNull())
      .addColumn('is_live', types.boolean, (c) => c.notNull())
      .addColumn('state', types.text, (c) => c.notNull())
      .addColumn('is_bisection', types.boolean, (c) => c.notNull())
      .addColumn('sha', types.text)
      .addColumn('created_at', types.integer, (c) => c.notNull())
      .addColumn('ended_at', types.integer)
      .addColumn('body', types.text, (c) => c.notNull())
      .addPrimaryKeyConstraint('candidates_key', ['queue_id', 'number'])
      .addUniqueConstraint('candidates_by_id', ['id']),
    schema.createIndex('candidates_by_version').on('candidates').columns(['queue_id', 'is_live', 'version']),
    schema
      .createIndex('candidates_by_sha')
      .on('candidates')
      .columns(['sha', 'queue_id'])
      .where(sql.ref('sha'), 'is not', null),
  ];
}

/** Effects that are there already are carried out one after the other: nothing tells which of them may not wait. */
function effects({ schema, types }: MigrationContext) {
  const table = () => schema.alterTable('effects');
  return [
    table().addColumn('stream', types.text, (c) => c.notNull().defaultTo('')),
    table().addColumn('attempts', types.integer, (c) => c.notNull().defaultTo(0)),
    table().addColumn('last_error', types.text),
    table().addColumn('parked_at', types.integer),
    table().addColumn('lease_holder', types.text),
    table().addColumn('lease_until', types.integer),
    // Whoever settles an effect names it alone.
    schema.createIndex('effects_by_id').unique().on('effects').columns(['id']),
    schema.createIndex('effects_by_stream').on('effects').columns(['queue_id', 'stream', 'version', 'ordinal']),
    schema
      .createIndex('effects_by_due_time')
      .on('effects')
      .columns(['due_at', 'version', 'ordinal'])
      .where(sql.ref('parked_at'), 'is', null),
    schema
      .createIndex('effects_leased')
      .on('effects')
      .columns(['lease_until'])
      .where(sql.ref('lease_until'), 'is not', null),
  ];
}

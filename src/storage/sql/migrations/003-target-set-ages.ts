import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** Sets that are there already count as new. The indexes find, for an old set, whether anything names it. */
export const targetSetAges: Migration = {
  name: '003-target-set-ages',
  statements: ({ schema, types }) => [
    schema
      .alterTable('target_sets')
      .addColumn('created_at', types.integer, (c) => c.notNull().defaultTo(sql.lit(Date.now()))),
    schema.createIndex('target_sets_by_age').on('target_sets').columns(['created_at']),
    schema
      .createIndex('entries_by_target_set')
      .on('entries')
      .columns(['targets_digest'])
      .where(sql.ref('targets_digest'), 'is not', null),
    schema
      .createIndex('impacted_targets_by_target_set')
      .on('impacted_targets')
      .columns(['targets_digest'])
      .where(sql.ref('targets_digest'), 'is not', null),
  ],
};

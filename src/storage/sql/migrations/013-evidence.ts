import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** The origin of what is there already is not proven: nobody asked for it when it came. */
export const evidence: Migration = {
  name: '013-evidence',
  statements: ({ schema, types, raw }) => {
    const no = sql.lit(false);
    return [
      schema.alterTable('uploads').addColumn('is_proven', types.boolean, (c) => c.notNull().defaultTo(no)),
      schema.alterTable('uploads').addColumn('flaw', types.text),
      schema.alterTable('uploads').addColumn('tests_ran', types.integer),
      schema.alterTable('uploads').addColumn('tests_failed', types.integer),
      schema.alterTable('uploads').addColumn('ignored', types.text),
      schema.alterTable('uploads').addColumn('is_to_recount', types.boolean, (c) => c.notNull().defaultTo(no)),
      schema.createIndex('uploads_to_recount').on('uploads').column('id').where(sql<boolean>`is_to_recount`),
      schema.alterTable('test_batches').addColumn('is_proven', types.boolean, (c) => c.notNull().defaultTo(no)),
      schema.alterTable('test_batches').addColumn('flaw', types.text),
      raw("update test_batches set flaw = 'FORK' where is_fork"),
      schema.alterTable('test_batches').dropColumn('is_fork'),
      schema.createIndex('test_batches_by_upload').on('test_batches').columns(['repository_id', 'upload_id']),
    ];
  },
};

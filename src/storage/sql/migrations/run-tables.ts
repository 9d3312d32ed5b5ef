import { sql } from 'kysely';
import { RUN_CONCLUSIONS } from '../../tests.ts';
import type { MigrationContext } from './migration.ts';

/**
 * The runs of tests, clustered by part and test, so that a batch writes few pages and a test's history is one seek a part.
 * PostgreSQL keeps no table in the order of a key; its index is not unique, because equal keys share one entry there.
 */
export function runTables({ schema, types, raw }: MigrationContext) {
  const runs = schema
    .createTable('runs')
    .addColumn('part', 'integer', (c) => c.notNull())
    .addColumn('test_no', 'integer', (c) => c.notNull())
    .addColumn('started_at', types.integer, (c) => c.notNull())
    .addColumn('duration_us', types.integer)
    .addColumn('seq', 'integer', (c) => c.notNull())
    .addColumn('ordinal', 'integer', (c) => c.notNull())
    .addColumn('conclusion', 'smallint', (c) => c.notNull())
    .addColumn('is_quarantined', types.boolean, (c) => c.notNull());
  const names = RUN_CONCLUSIONS.map((name, conclusion) => `(${conclusion}, '${name}')`);
  return [
    ...(types.hasPartitions
      ? [
          runs.modifyEnd(sql`partition by range (part)`),
          schema.createIndex('runs_by_test').on('runs').columns(['part', 'test_no']),
        ]
      : [
          runs
            .addPrimaryKeyConstraint('runs_key', ['part', 'test_no', 'started_at', 'seq', 'ordinal'])
            .modifyEnd(types.clustered),
        ]),
    schema
      .createTable('run_parts')
      .addColumn('part', 'integer', (c) => c.primaryKey())
      .addColumn('repository_id', types.text)
      .addColumn('last_seq', 'integer', (c) => c.notNull())
      .addColumn('first_started_at', types.integer, (c) => c.notNull())
      .addColumn('last_started_at', types.integer, (c) => c.notNull())
      .addColumn('batch_count', 'integer', (c) => c.notNull())
      .addColumn('run_count', 'integer', (c) => c.notNull()),
    schema.createIndex('run_parts_by_repository').on('run_parts').columns(['repository_id', 'part']),
    schema
      .createTable('run_conclusions')
      .addColumn('conclusion', 'smallint', (c) => c.primaryKey())
      .addColumn('name', types.text, (c) => c.notNull()),
    raw(`insert into run_conclusions values ${names.join(', ')}`),
  ];
}

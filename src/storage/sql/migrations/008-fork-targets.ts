import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** Those that are there already count as given with a token: a fork cannot replace them. */
export const forkTargets: Migration = {
  name: '008-fork-targets',
  statements: ({ schema, types }) => [
    schema
      .alterTable('impacted_targets')
      .addColumn('is_of_fork', types.boolean, (c) => c.notNull().defaultTo(sql.lit(false))),
  ],
};

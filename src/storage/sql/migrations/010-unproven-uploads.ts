import type { Migration } from './migration.ts';

/**
 * The origin of an upload decides nothing any more. A server of the version before may write beside this one on
 * PostgreSQL, so that the column stays there, with a default.
 */
export const unprovenUploads: Migration = {
  name: 'unproven uploads',
  statements: ({ hasRowLocks }) =>
    ['uploads', 'test_batches'].map((table) =>
      hasRowLocks
        ? `alter table ${table} alter column is_proven set default false`
        : `alter table ${table} drop column is_proven`,
    ),
};

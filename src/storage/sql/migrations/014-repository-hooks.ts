import type { Migration } from './migration.ts';

/** Hooks of repositories that are registered already did not run so far, and do so when somebody says so. */
export const repositoryHooks: Migration = {
  name: '014-repository-hooks',
  statements: ({ schema, types }) => [
    schema.alterTable('repositories').addColumn('run_hooks', types.integer, (c) => c.notNull().defaultTo(0)),
  ],
};

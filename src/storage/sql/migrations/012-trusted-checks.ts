import type { Migration } from './migration.ts';

/** No repository was trusted before: null means the same as false. */
export const trustedChecks: Migration = {
  name: '012-trusted-checks',
  statements: ({ schema, types }) => [schema.alterTable('repositories').addColumn('trust_checks', types.boolean)],
};

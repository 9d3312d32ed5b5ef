import type { Migration } from './migration.ts';

/** Which of the tests that share an id a failure was of; null where nobody told. */
export const suitePaths: Migration = {
  name: '010-suite-paths',
  statements: ({ schema, types }) => [schema.alterTable('test_failure_texts').addColumn('suite_path', types.text)],
};

import type { Migration } from './migration.ts';

/** How much the checks in a repository's own file may ask for. Older repositories let it choose nothing. */
export const fileChecks: Migration = {
  name: 'checks in the file of a repository',
  statements: () => ['alter table repositories add column file_checks TEXT'],
};

import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** What the forge calls it by is learned at the next look. The index finds one whatever the letters of its name. */
export const repositoryIdentity: Migration = {
  name: '009-repository-identity',
  statements: ({ schema, types }) => [
    schema.alterTable('repositories').addColumn('forge_id', types.text),
    schema.alterTable('repositories').addColumn('barred', types.text),
    schema
      .createIndex('repositories_by_spelling')
      .on('repositories')
      .columns(['organization_id', 'host'])
      .expression(sql`lower(owner)`)
      .expression(sql`lower(name)`),
  ],
};

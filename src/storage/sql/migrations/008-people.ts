import type { Migration } from './migration.ts';

/** Sessions of people whom a provider proved. They have no token. */
export const people: Migration = {
  name: 'people',
  statements: () => [
    'alter table sessions add column organization_id TEXT',
    'alter table sessions add column person TEXT',
    'create index sessions_by_organization on sessions (organization_id, created_at) where organization_id is not null',
  ],
};

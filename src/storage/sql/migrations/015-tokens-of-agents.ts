import type { Migration } from './migration.ts';

/** Tokens that exist are not of agents. */
export const tokensOfAgents: Migration = {
  name: 'tokens of agents',
  statements: () => ['alter table tokens add column is_agent boolean not null default false'],
};

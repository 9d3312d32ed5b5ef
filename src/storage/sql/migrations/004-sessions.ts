import type { Migration } from './migration.ts';

/** Stays on the dashboard, links that begin one, and what its pages read. */
export const sessions: Migration = {
  name: 'dashboard',
  statements: () => [
    `create table sessions (
      hash TEXT primary key, token_id TEXT not null, created_at bigint not null, used_at bigint not null,
      is_link boolean not null
    )`,
    'create index candidates_by_end on candidates (queue_id, ended_at)',
  ],
};

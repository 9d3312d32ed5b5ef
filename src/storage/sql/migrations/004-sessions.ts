import type { Migration } from './migration.ts';

/** Stays on the dashboard, and links that begin one. */
export const sessions: Migration = {
  name: 'sessions',
  statements: () => [
    `create table sessions (
      hash TEXT primary key, token_id TEXT not null, created_at bigint not null, used_at bigint not null,
      is_link boolean not null
    )`,
  ],
};

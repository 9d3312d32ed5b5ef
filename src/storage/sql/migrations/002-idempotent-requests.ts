import type { Migration } from './migration.ts';

/** Answers to requests that came with an idempotency key. */
export const idempotentRequests: Migration = {
  name: 'idempotent requests',
  statements: () => [
    `create table idempotent_requests (
      token_id TEXT not null, key TEXT not null, digest TEXT not null, started_at bigint not null, answer TEXT,
      primary key (token_id, key)
    )`,
    'create index idempotent_requests_by_age on idempotent_requests (started_at)',
  ],
};

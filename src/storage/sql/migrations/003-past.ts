import type { Migration } from './migration.ts';

/** The rows that each commit of a queue changed, and facts beside them with the time in which they held. */
export const past: Migration = {
  name: 'past',
  statements: () => [
    'alter table queues add column last_at bigint not null default 0',
    `create table queue_changes (
      queue_id TEXT not null, version bigint not null, at bigint not null, size bigint not null, body TEXT not null,
      primary key (queue_id, version)
    )`,
    'create index queue_changes_by_instant on queue_changes (queue_id, at, version, size)',
    `create table queue_packs (
      queue_id TEXT not null, version bigint not null, until_version bigint not null, at bigint not null,
      until_at bigint not null, data BYTES not null,
      primary key (queue_id, version)
    )`,
    'create index queue_packs_by_instant on queue_packs (queue_id, at, version)',
    'create index queue_packs_by_age on queue_packs (until_at)',
    `create table queue_pack_keys (
      queue_id TEXT not null, key TEXT not null, version bigint not null,
      primary key (queue_id, key, version)
    ) CLUSTERED`,
    'create index queue_pack_keys_by_pack on queue_pack_keys (queue_id, version)',
    `create table past_facts (
      subject TEXT not null, key TEXT not null, from_at bigint not null, until_at bigint not null, body TEXT not null,
      primary key (subject, key, from_at)
    ) CLUSTERED`,
    'create index past_facts_by_subject on past_facts (subject, until_at)',
    'create index past_facts_by_age on past_facts (until_at)',
  ],
};

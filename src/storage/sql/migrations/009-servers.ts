import type { Migration } from './migration.ts';

/** Servers of 0.2.0 write here that they are alive. The table stays while they may be replaced one by one. */
export const servers: Migration = {
  name: 'servers',
  statements: () => [
    'create table servers (id TEXT primary key, address TEXT not null, version TEXT not null, seen_at bigint not null)',
  ],
};

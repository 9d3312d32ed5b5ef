import type { Migration } from './migration.ts';

/** The servers that use the store, and when each said last that it is alive. */
export const servers: Migration = {
  name: 'servers',
  statements: () => [
    'create table servers (id TEXT primary key, address TEXT not null, version TEXT not null, seen_at bigint not null)',
  ],
};

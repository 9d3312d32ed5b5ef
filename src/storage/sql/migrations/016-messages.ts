import type { Migration } from './migration.ts';

/** Webhooks that exist tell of everybody. */
export const messages: Migration = {
  name: 'messages to people',
  statements: () => ['alter table webhooks add column account text'],
};

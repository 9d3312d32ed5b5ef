import type { Migration } from './migration.ts';

/** The one who made a token. One of a person ends with that person's role. Tokens that exist have neither. */
export const tokensOfPeople: Migration = {
  name: 'tokens-of-people',
  statements: () => [
    'alter table tokens add column made_by TEXT',
    'alter table tokens add column person TEXT',
    'alter table tokens add column signed_in_at bigint',
    'create index tokens_of_people on tokens (id) where person is not null',
  ],
};

import type { Person } from '../hosting.ts';
import type { Installation } from './api/installations.ts';

/** Somebody as GraphQL names them; null where the account is gone. */
export interface Actor {
  readonly __typename: string;
  readonly login: string;
}

export const ACTOR = '{ __typename login }';

/** As people see it: GraphQL leaves out what marks an app. */
export function loginOf(actor: Actor | null): string {
  if (actor === null) return 'ghost';
  return actor.__typename === 'Bot' ? `${actor.login}[bot]` : actor.login;
}

/** Accounts that were imported, or are gone, have names that somebody else may have. */
export function isAccount(actor: Actor | null): boolean {
  return actor?.__typename === 'User' || actor?.__typename === 'Bot';
}

export function personOf(actor: Actor | null, own: Installation): Person {
  const isBot = actor?.__typename === 'Bot';
  return { login: loginOf(actor), isBot, isOwn: actor?.login === own.login && isBot === own.isApp };
}

import type { Person } from '../hosting.ts';
import type { Installation } from './api/installations.ts';

/** An account in GraphQL's form. Null when it was deleted. */
export interface Actor {
  readonly __typename: string;
  readonly login: string;
}

export const ACTOR = '{ __typename login }';

/** The login as GitHub's pages show it. GraphQL leaves out the `[bot]` of an app. */
export function loginOf(actor: Actor | null): string {
  if (actor === null) return 'ghost';
  return actor.__typename === 'Bot' ? `${actor.login}[bot]` : actor.login;
}

/** The login of an imported or deleted account may belong to another person by now. */
export function isAccount(actor: Actor | null): boolean {
  return actor?.__typename === 'User' || actor?.__typename === 'Bot';
}

export function personOf(actor: Actor | null, own: Installation): Person {
  const isBot = actor?.__typename === 'Bot';
  return { login: loginOf(actor), isBot, isOwn: actor?.login === own.login && isBot === own.isApp };
}

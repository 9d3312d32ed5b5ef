import { instantOf } from '../hosted/forge-text.ts';
import type { Person, Retarget } from '../hosting.ts';
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

export interface Retargeted {
  readonly retargets: { readonly nodes: readonly (RetargetNode | null)[] | null };
}

interface RetargetNode {
  readonly createdAt: string;
  readonly actor?: Actor | null;
}

/** Queried separately: among other events, enough of them would push these off the page. */
export const RETARGETS = `retargets: timelineItems(last: 1, itemTypes:
  [BASE_REF_CHANGED_EVENT, AUTOMATIC_BASE_CHANGE_SUCCEEDED_EVENT]) { nodes {
    ... on BaseRefChangedEvent { createdAt actor ${ACTOR} } ... on AutomaticBaseChangeSucceededEvent { createdAt } } }`;

/** GitHub itself retargets a pull request when its base was merged and deleted. That is no act of a person. */
export function retargetOf({ retargets }: Retargeted, own: Installation): { readonly retarget?: Retarget } {
  const last = retargets.nodes?.at(-1);
  if (last === null || last === undefined) return {};
  const actor = last.actor ?? null;
  return {
    retarget: {
      // A time that cannot be parsed counts as just now.
      at: instantOf(last.createdAt) ?? Number.POSITIVE_INFINITY,
      by: isAccount(actor) ? personOf(actor, own) : undefined,
    },
  };
}

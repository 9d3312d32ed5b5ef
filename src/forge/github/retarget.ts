import type { Retarget } from '../hosting.ts';
import type { Installation } from './api/installations.ts';
import { instantOf } from './checks.ts';
import { ACTOR, type Actor, isAccount, personOf } from './people.ts';

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

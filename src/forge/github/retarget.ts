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

/** Asked for by themselves: among other events, many of them would push those out of sight. */
export const RETARGETS = `retargets: timelineItems(last: 1, itemTypes:
  [BASE_REF_CHANGED_EVENT, AUTOMATIC_BASE_CHANGE_SUCCEEDED_EVENT]) { nodes {
    ... on BaseRefChangedEvent { createdAt actor ${ACTOR} } ... on AutomaticBaseChangeSucceededEvent { createdAt } } }`;

/** Where a base was merged and its branch deleted, GitHub chooses another one itself: nobody meant that. */
export function retargetOf({ retargets }: Retargeted, own: Installation): { readonly retarget?: Retarget } {
  const last = retargets.nodes?.at(-1);
  if (last === null || last === undefined) return {};
  const actor = last.actor ?? null;
  return {
    retarget: {
      // One whose time cannot be read may have been a moment ago.
      at: instantOf(last.createdAt) ?? Number.POSITIVE_INFINITY,
      by: isAccount(actor) ? personOf(actor, own) : undefined,
    },
  };
}

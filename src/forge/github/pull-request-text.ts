import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { Sha } from '../../lib/sha.ts';
import { contextsText, isRequiredText, type Rollup } from './checks.ts';
import { ACTOR, type Actor } from './people.ts';

/** A pull request in GraphQL's form, with the query text for it. */
export interface PullRequestNode {
  readonly id: string;
  readonly number: PrNumber;
  readonly title: string;
  readonly body: string;
  readonly url: string;
  readonly state: 'OPEN' | 'CLOSED' | 'MERGED';
  readonly isDraft: boolean;
  readonly mergeable: 'CONFLICTING' | 'MERGEABLE' | 'UNKNOWN';
  readonly mergeStateStatus: string;
  readonly reviewDecision: string | null;
  readonly isCrossRepository: boolean;
  readonly headRefOid: Sha;
  readonly headRefName: string;
  readonly baseRefName: string;
  readonly headRepository: { readonly id: string } | null;
  readonly author: Actor | null;
}

/** Further fields, for one pull request or for blocked ones. */
export interface PullRequestDetails extends PullRequestNode {
  readonly baseRef: { readonly target: { readonly oid: Sha } | null } | null;
  readonly reviewThreads: ReviewThreads;
  readonly head: { readonly nodes: readonly ({ readonly commit: HeadCommit } | null)[] | null };
  readonly recent: { readonly nodes: readonly ({ readonly commit: RecentCommit } | null)[] | null };
}

/** Read with comments and labels. A push changes `updatedAt` too, so it bounds the time of the last push. */
export interface Changed {
  readonly updatedAt: string;
}

export interface ReviewThreads {
  readonly totalCount: number;
  readonly nodes: readonly ({ readonly isResolved: boolean } | null)[] | null;
}

interface HeadCommit {
  readonly oid: Sha;
  readonly tree: { readonly oid: Sha };
  readonly statusCheckRollup: Rollup | null;
}

interface RecentCommit {
  readonly parents: { readonly nodes: readonly ({ readonly oid: Sha } | null)[] | null };
}

/** GraphQL refuses numbers beyond 32 bits. */
export function isAskable(number: PrNumber): boolean {
  return number < 2 ** 31;
}

export const FACTS = `id number title body url state isDraft mergeable mergeStateStatus reviewDecision isCrossRepository
  headRefOid headRefName baseRefName headRepository { id } author ${ACTOR}`;

/** The head contains the target branch's head exactly when that is the parent of a commit of the pull request. */
export function detailsText(number: PrNumber): string {
  return `${FACTS} baseRef { target { oid } }
    reviewThreads(first: 100) { totalCount nodes { isResolved } }
    recent: commits(last: 50) { nodes { commit { parents(first: 3) { nodes { oid } } } } }
    head: commits(last: 1) { nodes { commit { oid tree { oid }
      statusCheckRollup { ${contextsText(isRequiredText(number))} } } } }`;
}

import type { Sha } from '../../lib/sha.ts';
import { alsoBlockedBy, hidesReviews, judgementIn, notReady, READY, type Readiness } from '../hosted/readiness.ts';
import type { TargetJudgement, TargetQuestion } from '../hosting.ts';
import { type FactsTools, findPullRequest } from './facts.ts';
import type { BranchRules } from './protection.ts';
import { isAskable, type ReviewThreads } from './pull-request-text.ts';
import { hasOpenThread, reviewReasons } from './readiness.ts';

/** A pull request with the last opinion of each reviewer with write access. */
export interface ReviewedNode {
  readonly state: string;
  readonly isDraft: boolean;
  readonly baseRefName: string;
  readonly headRefOid: Sha;
  readonly reviewDecision: string | null;
  readonly reviewThreads: ReviewThreads;
  readonly latestOpinionatedReviews: {
    readonly totalCount: number;
    readonly nodes: readonly (ReviewNode | null)[] | null;
  } | null;
}

interface ReviewNode {
  readonly state: string;
  readonly commit: { readonly oid: Sha } | null;
}

/** On the base that it has, GitHub calls it clean by the rules of that base. */
// SPEC G175
export async function judgeForTarget(tools: FactsTools, question: TargetQuestion): Promise<TargetJudgement> {
  const { repository, targetBranch } = question;
  const node = await findReviewed(tools, question);
  if (node === null || node.state !== 'OPEN') return notReady('closed');
  if (node.baseRefName === targetBranch) return judgeBased(tools, question, node);
  if (node.isDraft) return notReady('draft');
  return judgeReviews(node, await tools.protection.readRules(repository, targetBranch));
}

/** Right after its base has changed, GitHub has not computed yet whether it can be merged. Its reviews count at once. */
// SPEC G179
async function judgeBased(tools: FactsTools, question: TargetQuestion, node: ReviewedNode): Promise<TargetJudgement> {
  const { repository, targetBranch } = question;
  const judged = judgementIn(await findPullRequest(tools, question), targetBranch);
  if (!hidesReviews(judged)) return judged;
  const told = reviewReasons(node);
  if (told.length > 0) return alsoBlockedBy(judged, told);
  const rules = await tools.protection.readRules(repository, targetBranch);
  const isApproved = node.reviewDecision === 'APPROVED';
  const open = isApproved ? { ...rules, approvals: 0, needsMoreThanApprovals: false } : rules;
  return alsoBlockedBy(judged, judgeReviews(node, open).blockReasons);
}

async function findReviewed(
  { client }: FactsTools,
  { repository, number }: TargetQuestion,
): Promise<ReviewedNode | null> {
  if (!isAskable(number)) return null;
  const { data } = await client.graphql<{ readonly repository: { readonly pullRequest: ReviewedNode | null } }>({
    repository,
    query: `query ReadReviews($owner: String!, $name: String!) { repository(owner: $owner, name: $name) {
      pullRequest(number: ${number}) { state isDraft baseRefName headRefOid reviewDecision
        reviewThreads(first: 100) { totalCount nodes { isResolved } }
        latestOpinionatedReviews(first: 100, writersOnly: true) { totalCount nodes { state commit { oid } } } } } }`,
    urgency: 'read',
  });
  return data.repository.pullRequest;
}

/** Only approvals of the present head count: GitHub keeps older ones unless it dismisses them. */
export function judgeReviews(node: ReviewedNode, rules: BranchRules): Readiness {
  const { totalCount, nodes } = node.latestOpinionatedReviews ?? { totalCount: 1, nodes: [] };
  const reviews = (nodes ?? []).filter((review) => review !== null);
  const isRejected = reviews.some(({ state }) => state === 'CHANGES_REQUESTED');
  if (rules.approvals > 0 && isRejected) return notReady('changesRequested');
  const approvals = reviews.filter(({ state, commit }) => state === 'APPROVED' && commit?.oid === node.headRefOid);
  if (approvals.length < rules.approvals) return notReady('reviewRequired');
  if (!rules.isJudgeable || rules.needsMoreThanApprovals) return notReady('other');
  if (rules.needsResolvedThreads && hasOpenThread(node.reviewThreads)) return notReady('other');
  // A request for changes may be on an unread page.
  return rules.approvals > 0 && reviews.length < totalCount ? notReady('other') : READY;
}

import { alsoBlockedBy, hidesReviews, judgementIn, notReady, READY, type Readiness } from '../hosted/readiness.ts';
import type { TargetJudgement, TargetQuestion } from '../hosting.ts';
import type { ProtectionData, PullData, ReviewData } from './api/data.ts';
import { type FactsTools, factsOfPull, findPull, listReviews, reviewReasons } from './facts.ts';
import { findPermission } from './people.ts';

/** Gitea decides by the base which reviews are official, at the time of the review, so that alone says too little. */
// SPEC G177
export async function judgeForTarget(tools: FactsTools, question: TargetQuestion): Promise<TargetJudgement> {
  const { repository, number, targetBranch } = question;
  const pull = await findPull(tools.client, repository, number);
  if (pull === undefined || pull.state === 'closed') return notReady('closed');
  if (pull.base.ref === targetBranch) return judgeBased(tools, question, pull);
  if (pull.draft === true) return notReady('draft');
  const rules = await tools.rules.read(repository, targetBranch);
  if (rules === undefined) return notReady('other');
  const { branch, protection } = rules;
  // The account may not read the protection.
  if (protection === undefined) return branch.protected ? notReady('other') : READY;
  const reasons = await judgeReviews(tools, question, { protection, headSha: pull.head.sha });
  return reasons ?? (protection.block_on_outdated_branch === true ? notReady('other') : READY);
}

// SPEC G179
async function judgeBased(
  tools: FactsTools,
  { repository, targetBranch }: TargetQuestion,
  pull: PullData,
): Promise<TargetJudgement> {
  const judged = judgementIn(await factsOfPull(tools, repository, pull), targetBranch);
  const rules = hidesReviews(judged) ? await tools.rules.read(repository, targetBranch) : undefined;
  return rules ? alsoBlockedBy(judged, await reviewReasons(tools.client, repository, pull, rules)) : judged;
}

interface Judged {
  readonly protection: ProtectionData;
  readonly headSha: string;
}

async function judgeReviews(
  { client }: FactsTools,
  { repository, number }: TargetQuestion,
  { protection, headSha }: Judged,
): Promise<Readiness | undefined> {
  const { required_approvals: needed = 0, block_on_official_review_requests: isRequested } = protection;
  const { block_on_rejected_reviews: isRejectable, enable_approvals_whitelist: isLimited } = protection;
  if (needed === 0 && isRejectable !== true && isRequested !== true) return undefined;
  const counts = async ({ user }: ReviewData) => {
    if (user === null) return false;
    if (isLimited === true) return (protection.approvals_whitelist_username ?? []).includes(user.login);
    return ['write', 'admin'].includes(await findPermission(client, repository, user.login));
  };
  const approvers = new Set<string>();
  let isAwaited = false;
  for (const review of await listReviews(client, repository, number)) {
    const { state, official, dismissed, commit_id, user } = review;
    if (dismissed) continue;
    const isRejection = state === 'REQUEST_CHANGES' && isRejectable === true;
    if (isRejection && (official || (await counts(review)))) return notReady('changesRequested');
    const isApproval = state === 'APPROVED' && official && commit_id === headSha;
    if (isApproval && (await counts(review))) approvers.add(user?.login ?? '');
    // A team is asked without being official on a base without protection.
    isAwaited ||= state === 'REQUEST_REVIEW' && isRequested === true;
  }
  if (isAwaited) return notReady('reviewRequired');
  if (approvers.size >= needed) return undefined;
  const hasTeams = isLimited === true && (protection.approvals_whitelist_teams ?? []).length > 0;
  return notReady(hasTeams ? 'other' : 'reviewRequired');
}

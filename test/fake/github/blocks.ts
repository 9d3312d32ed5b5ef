import { checksOf, latestOf, latestStatuses } from './checks.ts';
import type { Caller, Mergeability, PullRequest, Repository, RequiredCheck, Rule } from './model.ts';
import { bypasses, isBound, isListed, protectionOf, rulesetsOf, type Way } from './protection.ts';
import { opinionsOf } from './reviews.ts';
import { hasRole } from './world.ts';

/** The rules that keep this caller from merging a pull request, in GitHub's sentences. */
export function blocksOf(pr: PullRequest, caller: Caller | undefined, merge: Mergeability): readonly string[] {
  return [...classicBlocks(pr, caller, merge), ...ruleBlocks(pr, caller, merge, 'pull_request')];
}

function classicBlocks(pr: PullRequest, caller: Caller | undefined, merge: Mergeability): readonly string[] {
  const { repository, baseRef } = pr;
  const protection = protectionOf(repository, baseRef);
  if (protection === undefined || (caller !== undefined && !isBound(repository, caller))) return [];
  const { checks, isStrict, reviews, pushers, bypassers } = protection;
  const mayPush = caller === undefined || pushers === undefined || isListed(pushers, caller);
  const mayPass = caller !== undefined && isListed(bypassers, caller);
  return [
    ...(mayPush ? [] : ["You're not authorized to push to this branch."]),
    ...(mayPass ? [] : approvalBlocks(pr, reviews?.count)),
    ...checkBlocks(repository, pr.headSha, checks ?? []),
    ...(isStrict && checks !== undefined && merge.isBehind ? [BEHIND] : []),
  ];
}

export const BEHIND = 'Head branch is out of date with the base branch.';
export const RULES_HEADING = 'Repository rule violations found';

function ruleBlocks(pr: PullRequest, caller: Caller | undefined, merge: Mergeability, way: Way): readonly string[] {
  const { repository, baseRef } = pr;
  return rulesetsOf(repository, baseRef)
    .filter((ruleset) => caller === undefined || !bypasses(ruleset, caller, way))
    .flatMap(({ rules }) => rules.flatMap((rule) => ruleBlock(pr, rule, merge)));
}

function ruleBlock(pr: PullRequest, rule: Rule, merge: Mergeability): readonly string[] {
  switch (rule.type) {
    case 'required_status_checks':
      return [
        ...checkBlocks(pr.repository, pr.headSha, rule.checks),
        ...(rule.isStrict && merge.isBehind ? [BEHIND] : []),
      ];
    case 'pull_request':
      return approvalBlocks(pr, rule.approvals);
    case 'update':
      return ['Cannot update this protected ref.'];
    default:
      return [];
  }
}

function approvalBlocks(pr: PullRequest, needed = 0): readonly string[] {
  const opinions = [...opinionsOf(pr).values()].filter(({ author }) => hasRole(pr.repository, author, 'write'));
  if (needed > 0 && opinions.some(({ state }) => state === 'CHANGES_REQUESTED'))
    return ['Changes have been requested.'];
  const approvals = opinions.filter(({ state }) => state === 'APPROVED').length;
  if (approvals >= needed) return [];
  return [
    `At least ${needed} approving review${needed === 1 ? ' is' : 's are'} required by reviewers with write access.`,
  ];
}

/** The required checks that do not let this commit pass. */
export function checkBlocks(
  repository: Repository,
  sha: string,
  required: readonly RequiredCheck[],
): readonly string[] {
  const open = required.map((check) => ({ check, state: stateOf(repository, sha, check) }));
  const unmet = open.filter(({ state }) => state !== 'met');
  const [first] = unmet;
  if (first === undefined) return [];
  if (unmet.length === 1) return [`Required status check "${first.check.context}" is ${first.state}.`];
  const word = unmet.some(({ state }) => state === 'failing') ? 'failing' : 'expected';
  return [`${unmet.length} of ${required.length} required status checks are ${word}.`];
}

const GOOD = ['success', 'neutral', 'skipped'];

function stateOf(repository: Repository, sha: string, { context, appId }: RequiredCheck) {
  const runs = latestOf(checksOf(repository, sha)).filter(
    ({ name, suite }) => name === context && (appId === undefined || suite.app.id === appId),
  );
  const statuses = latestStatuses(repository, sha).filter(
    (status) => status.context === context && (appId === undefined || status.app?.id === appId),
  );
  if (runs.length + statuses.length === 0) return 'expected';
  if (runs.some(({ status }) => status !== 'completed')) return 'in progress';
  if (statuses.some(({ state }) => state === 'pending')) return 'pending';
  const isMet =
    runs.every(({ conclusion }) => GOOD.includes(conclusion ?? '')) &&
    statuses.every(({ state }) => state === 'success');
  return isMet ? 'met' : 'failing';
}

/** GitHub's `mergeable_state`. Of the actors that may bypass rules, it considers only exempt ones. */
export function mergeStateOf(pr: PullRequest, merge: Mergeability, viewer?: Caller): string {
  if (merge.kind === 'unknown') return 'unknown';
  if (merge.kind === 'conflict') return 'dirty';
  if (pr.isDraft) return 'draft';
  const blocks = [...classicBlocks(pr, undefined, merge), ...ruleBlocks(pr, viewer, merge, 'look')];
  if (blocks.some((block) => block !== BEHIND)) return 'blocked';
  if (blocks.length > 0) return 'behind';
  return isUnstable(pr) ? 'unstable' : 'clean';
}

function isUnstable({ repository, headSha }: PullRequest): boolean {
  return (
    latestOf(checksOf(repository, headSha)).some(({ conclusion }) => !GOOD.includes(conclusion ?? '')) ||
    latestStatuses(repository, headSha).some(({ state }) => state !== 'success')
  );
}

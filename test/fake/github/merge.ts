import { commitTree } from '../hosted/git.ts';
import { rebaseCommits } from '../hosted/rebase.ts';
import { blocksOf, RULES_HEADING } from './blocks.ts';
import { defaultMessage } from './merge-message.ts';
import { findOut } from './mergeability.ts';
import type { Caller, MergeMethod, PullRequest, Repository, User, World } from './model.ts';
import { personOf, WEB_FLOW } from './people.ts';
import { rulesOf } from './protection.ts';
import { markMerged } from './pull-request-state.ts';
import { editPullRequest } from './pulls.ts';
import { branchHead, moveRefs, openPullRequests } from './refs.ts';
import { Refused } from './refused.ts';
import { inTurn } from './world.ts';

export interface MergeRequest {
  readonly method: MergeMethod;
  readonly sha?: string | undefined;
  readonly title?: string | undefined;
  readonly message?: string | undefined;
}

/** Merges, or refuses like GitHub: 409 when the head is not the expected one, 405 for everything else. */
export async function mergePullRequest(
  world: World,
  pr: PullRequest,
  caller: Exclude<Caller, { kind: 'nobody' }>,
  request: MergeRequest,
): Promise<string> {
  if (pr.isMerging) throw new Refused(405, 'Merge already in progress');
  pr.isMerging = true;
  try {
    return await inTurn(pr.repository, () => mergeNow(world, pr, caller, request));
  } finally {
    pr.isMerging = false;
  }
}

async function mergeNow(
  world: World,
  pr: PullRequest,
  caller: Exclude<Caller, { kind: 'nobody' }>,
  request: MergeRequest,
): Promise<string> {
  const base = branchHead(pr.repository, pr.baseRef);
  if (pr.state === 'closed' || base === undefined) throw notMergeable();
  if (pr.isDraft) throw new Refused(405, 'Pull Request is still a draft');
  if (request.sha !== undefined && request.sha !== pr.headSha)
    throw new Refused(409, 'Head branch was modified. Review and try the merge again.');
  checkMethod(pr, request.method);
  const merge = await findOut(world, pr, base);
  if (merge.kind !== 'clean' || merge.tree === undefined || merge.isContained) throw notMergeable();
  checkRules(pr, caller, merge);
  const sha = await makeCommits(world, pr, { base, tree: merge.tree, by: caller.user, request });
  await moveRefs(world, pr.repository, caller.user, [{ ref: `refs/heads/${pr.baseRef}`, after: sha, isForward: true }]);
  pr.baseSha = base;
  markMerged(world, pr, caller.user, sha);
  await deleteBranch(world, pr, caller.user);
  return sha;
}

function notMergeable(): Refused {
  return new Refused(405, 'Pull Request is not mergeable');
}

const NAMES = { merge: 'Merge commits', squash: 'Squash merges', rebase: 'Rebase merges' };

export function isAllowed({ settings }: Repository, method: MergeMethod): boolean {
  return { merge: settings.allowMerge, squash: settings.allowSquash, rebase: settings.allowRebase }[method];
}

function checkMethod({ repository }: PullRequest, method: MergeMethod): void {
  if (!isAllowed(repository, method)) throw new Refused(405, `${NAMES[method]} are not allowed on this repository.`);
}

function checkRules(pr: PullRequest, caller: Caller, merge: PullRequest['merge']): void {
  const blocks = blocksOf(pr, caller, merge);
  if (blocks.length === 0) return;
  const isByRules = rulesOf(pr.repository, pr.baseRef).length > 0;
  throw new Refused(405, isByRules ? `${RULES_HEADING}\n\n${blocks.join('\n\n')}\n\n` : blocks.join(' '));
}

interface Making {
  readonly base: string;
  /** The merged tree. */
  readonly tree: string;
  readonly by: User;
  readonly request: MergeRequest;
}

function makeCommits(world: World, pr: PullRequest, making: Making): Promise<string> {
  return making.request.method === 'rebase' ? rebase(world, pr, making) : mergeOrSquash(world, pr, making);
}

async function mergeOrSquash(world: World, pr: PullRequest, { base, tree, by, request }: Making): Promise<string> {
  const isSquash = request.method === 'squash';
  const usual = await defaultMessage(pr, base, isSquash ? 'squash' : 'merge');
  const body = request.message ?? usual.body;
  return commitTree(pr.repository.gitDir, {
    tree,
    parents: isSquash ? [base] : [base, pr.headSha],
    message: `${request.title ?? usual.title}${body === '' ? '' : `\n\n${body}`}`,
    author: personOf(isSquash ? pr.author : by, world.now()),
    committer: { ...WEB_FLOW, at: world.now() },
  });
}

async function rebase(world: World, pr: PullRequest, { base, by }: Making): Promise<string> {
  const { gitDir } = pr.repository;
  const tip = await rebaseCommits(gitDir, { base, head: pr.headSha, committer: personOf(by, world.now()) });
  if (tip === undefined) throw new Refused(405, "This branch can't be rebased");
  return tip;
}

async function deleteBranch(world: World, pr: PullRequest, by: User): Promise<void> {
  const { repository, headRepository, headRef } = pr;
  if (!repository.settings.deleteBranchOnMerge || headRepository !== repository) return;
  if (branchHead(repository, headRef) !== pr.headSha || headRef === repository.defaultBranch) return;
  // Pull requests onto the deleted branch are retargeted to its base.
  for (const other of openPullRequests(repository))
    if (other.baseRef === headRef) editPullRequest(world, other, by, { base: pr.baseRef, isAutomatic: true });
  await moveRefs(world, repository, by, [{ ref: `refs/heads/${headRef}`, after: undefined }]);
}

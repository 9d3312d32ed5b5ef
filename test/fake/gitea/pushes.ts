import { findMergeBase, getCommit, gitLines, isAncestor, listShas, mergeTree, readRefs } from '../hosted/git.ts';
import { keepRef } from '../hosted/keep-ref.ts';
import {
  branchHead,
  isDraft,
  type PullRequest,
  protectionOf,
  type Repository,
  type TimelineItem,
  type User,
  type World,
} from './model.ts';

export const ZEROS = '0'.repeat(40);

/** After git moved refs, finds the changes and applies their consequences. */
export async function catchUp(world: World, repository: Repository, sender: User): Promise<void> {
  const before = repository.refs;
  const after = await readRefs(repository.gitDir);
  repository.refs = after;
  for (const ref of new Set([...before.keys(), ...after.keys()])) {
    if (!ref.startsWith('refs/heads/') && !ref.startsWith('refs/tags/')) continue;
    const change = { before: before.get(ref) ?? ZEROS, after: after.get(ref) ?? ZEROS };
    if (change.before === change.after) continue;
    if (change.before === ZEROS) world.announce({ type: 'create', repository, sender, ref, sha: change.after });
    if (change.after === ZEROS) world.announce({ type: 'delete', repository, sender, ref, sha: change.before });
    else world.announce({ type: 'push', repository, sender, ref, ...change });
    if (ref.startsWith('refs/heads/'))
      await follow(world, repository, sender, ref.slice('refs/heads/'.length), change.after);
  }
}

async function follow(
  world: World,
  repository: Repository,
  sender: User,
  branch: string,
  after: string,
): Promise<void> {
  for (const target of world.repositories.values())
    for (const pr of openPullRequests(target))
      if (pr.headRepository === repository && pr.headBranch === branch) await followHead(world, pr, sender, after);
  for (const pr of openPullRequests(repository)) {
    if (pr.baseBranch !== branch) continue;
    if (after === ZEROS) await moveBase(world, pr, sender, repository.defaultBranch);
    else await detectMerge(world, pr, sender);
  }
}

export function openPullRequests({ pulls }: Repository): readonly PullRequest[] {
  return [...pulls.values()].filter(({ isClosed }) => !isClosed);
}

/** Gitea does so with pull requests whose base is deleted, too: they go to the default branch. */
export async function moveBase(world: World, pr: PullRequest, sender: User, branch: string): Promise<void> {
  pr.baseBranch = branch;
  pr.trial = undefined;
  await isClean(pr);
  // The commits of the former base are forgotten.
  pr.timeline.splice(0, Infinity, ...pr.timeline.filter(({ type }) => type !== 'pull_push'));
  addItem(world, pr, sender, { type: 'change_target_branch' });
  await addPush(world, pr, sender, branchHead(pr.repository, branch) ?? pr.mergeBase, pr.headSha);
  world.announce({ type: 'pull_request', action: 'edited', repository: pr.repository, sender, pr });
}

async function followHead(world: World, pr: PullRequest, sender: User, after: string): Promise<void> {
  if (after === ZEROS) return closePullRequest(world, pr, sender);
  await keepHead(pr, after);
  const isSame = await hasSameContent(pr, after);
  await addPush(world, pr, sender, pr.headSha, after);
  pr.headSha = after;
  for (const review of pr.reviews) {
    if (!isSame) review.isStale = true;
    if (!isSame && protectionOf(pr.repository, pr.baseBranch)?.rule['dismiss_stale_approvals'] === true)
      review.isDismissed ||= review.state === 'APPROVED';
    if (review.commitId === after) review.isStale = false;
  }
  world.announce({ type: 'pull_request_sync', action: 'synchronized', repository: pr.repository, sender, pr });
  await detectMerge(world, pr, sender);
}

/** Names the commits that were pushed, oldest first. */
export async function addPush(world: World, pr: PullRequest, user: User, before: string, after: string): Promise<void> {
  const { gitDir } = pr.repository;
  const isForced = !(await isAncestor(gitDir, before, after));
  const commits = isForced ? [before, after] : (await listShas(gitDir, before, after)).toReversed();
  addItem(world, pr, user, {
    type: 'pull_push',
    body: JSON.stringify({ is_force_push: isForced, commit_ids: commits }),
  });
}

async function hasSameContent({ repository, headSha, mergeBase }: PullRequest, after: string): Promise<boolean> {
  const { gitDir } = repository;
  if ((await findMergeBase(gitDir, headSha, after)) === undefined || mergeBase === '') return false;
  const [one, other] = await Promise.all([getCommit(gitDir, headSha), getCommit(gitDir, after)]);
  return one.tree === other.tree;
}

export async function keepHead({ repository, headRepository, number }: PullRequest, after: string): Promise<void> {
  await keepRef(repository, headRepository, { ref: `refs/pull/${number}/head`, after });
}

/**
 * Gitea lists the merges between the head and the branch, and takes the list for one commit. So it finds pull requests
 * with one merge on the way, or none.
 */
async function detectMerge(world: World, pr: PullRequest, sender: User): Promise<void> {
  const base = branchHead(pr.repository, pr.baseBranch);
  if (base === undefined || pr.repository.settings['autodetect_manual_merge'] !== true) return;
  const { gitDir } = pr.repository;
  if (!(await isAncestor(gitDir, pr.headSha, base))) return;
  const merges = await gitLines(gitDir, ['rev-list', '--ancestry-path', '--merges', `${pr.headSha}..${base}`]);
  if (merges.length < 2) await markMerged(world, pr, sender, merges[0] ?? pr.headSha);
}

export async function markMerged(world: World, pr: PullRequest, by: User, sha: string): Promise<void> {
  const { author } = await getCommit(pr.repository.gitDir, sha);
  pr.merged = { sha, by, at: author.at };
  pr.isClosed = true;
  pr.closedAt = world.now();
  addItem(world, pr, by, { type: 'merge_pull' });
  world.announce({ type: 'pull_request', action: 'closed', repository: pr.repository, sender: by, pr });
}

export function closePullRequest(world: World, pr: PullRequest, sender: User): void {
  pr.isClosed = true;
  pr.closedAt = world.now();
  addItem(world, pr, sender, { type: 'close' });
  world.announce({ type: 'pull_request', action: 'closed', repository: pr.repository, sender, pr });
}

export function addItem(
  world: World,
  pr: PullRequest,
  user: User,
  more: Pick<TimelineItem, 'type'> & Partial<Pick<TimelineItem, 'body' | 'label'>>,
): TimelineItem {
  const at = world.now();
  const item = { id: world.nextId(), user, body: '', createdAt: at, updatedAt: at, reactions: [], ...more };
  pr.timeline.push(item);
  pr.updatedAt = at;
  return item;
}

/** Whether a trial merge is clean. Computed once for the same two commits. */
export async function isClean(pr: PullRequest): Promise<boolean> {
  const base = branchHead(pr.repository, pr.baseBranch);
  if (pr.merged !== undefined || base === undefined) return pr.trial?.isClean ?? true;
  const key = `${base} ${pr.headSha}`;
  if (pr.trial?.key === key) return pr.trial.isClean;
  const { gitDir } = pr.repository;
  const common = await findMergeBase(gitDir, base, pr.headSha);
  pr.mergeBase = common ?? '';
  // Another history is a conflict.
  const tree = common === undefined ? undefined : await mergeTree(gitDir, base, pr.headSha);
  pr.trial = { key, isClean: tree !== undefined };
  return pr.trial.isClean;
}

export function isMergeable(pr: PullRequest): Promise<boolean> {
  return isDraft(pr) ? Promise.resolve(false) : isClean(pr);
}

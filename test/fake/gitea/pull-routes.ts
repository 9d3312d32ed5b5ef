import type { Answer } from '../hosted/answer.ts';
import { findCommit, findMergeBase } from '../hosted/git.ts';
import { type CallIn, getPullRequest, inRepository, notFound, paged, Refused, type Routes, textOf } from './call.ts';
import { mergePullRequest } from './merge.ts';
import {
  branchHead,
  findRepository,
  hasMode,
  inTurn,
  type Mode,
  type PullRequest,
  protectionOf,
  type Repository,
  type Review,
} from './model.ts';
import { addItem, addPush, closePullRequest, isClean, keepHead, moveBase, openPullRequests } from './pushes.ts';
import { pullRequestView, reviewView, type View } from './views.ts';

/** A repository without a branch has no pull requests to ask for. */
function inPulls(mode: Mode, act: (call: CallIn) => Answer | Promise<Answer>): Routes[string] {
  return inRepository(mode, (call) => {
    if (call.repository.refs.size === 0) throw notFound(call);
    return act(call);
  });
}

/** Pull requests, merges and reviews. */
export const pullRoutes: Routes = {
  'GET /repos/{owner}/{repo}/pulls': inPulls('read', (call) => {
    const state = call.query.get('state') ?? 'open';
    const base = call.query.get('base_branch') ?? '';
    const found = [...call.repository.pulls.values()].filter(
      (pr) => (state === 'all' || pr.isClosed === (state === 'closed')) && (base === '' || pr.baseBranch === base),
    );
    return paged(call, sorted(found, call.query.get('sort')), (pr) => show(call, pr));
  }),
  'POST /repos/{owner}/{repo}/pulls': inPulls('read', (call) => inTurn(call.repository, () => openPullRequest(call))),
  'GET /repos/{owner}/{repo}/pulls/{index}': inPulls('read', async (call) => ({
    status: 200,
    body: await show(call, getPullRequest(call)),
  })),
  'PATCH /repos/{owner}/{repo}/pulls/{index}': inPulls('read', async (call) => {
    const pr = getPullRequest(call);
    if (call.user !== pr.author && !hasMode(call.repository, call.user, 'write'))
      throw new Refused(403, '', call.world);
    edit(call, pr);
    await changeBase(call, pr, textOf(call.body, 'base'));
    return { status: 201, body: await show(call, pr) };
  }),
  'POST /repos/{owner}/{repo}/pulls/{index}/merge': inPulls('read', (call) =>
    inTurn(call.repository, async () => {
      await mergePullRequest(call, getPullRequest(call));
      return { status: 200 };
    }),
  ),
  'GET /repos/{owner}/{repo}/pulls/{index}/reviews': inPulls('read', (call) => {
    const pr = getPullRequest(call);
    return paged(call, pr.reviews, (review) => reviewView(call.world, pr, review));
  }),
  'POST /repos/{owner}/{repo}/pulls/{index}/reviews': inPulls('read', (call) => {
    const pr = getPullRequest(call);
    return { status: 200, body: reviewView(call.world, pr, submitReview(call, pr)) };
  }),
};

async function show({ world, caller }: CallIn, pr: PullRequest): Promise<View> {
  return pullRequestView(world, pr, caller, await isClean(pr));
}

function sorted(pulls: readonly PullRequest[], sort: string | null): readonly PullRequest[] {
  const keys = (pr: PullRequest) =>
    sort === 'recentupdate' ? [pr.updatedAt, pr.createdAt, pr.id] : [pr.createdAt, pr.id];
  const newestFirst = (one: PullRequest, other: PullRequest) => {
    const [mine, theirs] = [keys(one), keys(other)];
    const index = mine.findIndex((key, at) => key !== theirs[at]);
    return index < 0 ? 0 : (theirs[index] ?? 0) - (mine[index] ?? 0);
  };
  const list = pulls.toSorted(newestFirst);
  return sort === 'oldest' ? list.toReversed() : list;
}

/** The branch may be one of a fork: `ada:change`. */
function findHead({ world, repository }: CallIn, head: string): readonly [Repository | undefined, string] {
  const [login, branch] = head.includes(':') ? head.split(':', 2) : [undefined, head];
  if (login === undefined || login === repository.owner.login) return [repository, branch ?? ''];
  const forks = [...world.repositories.values()].filter(
    ({ parent, owner }) => parent === repository && owner.login === login,
  );
  return [forks[0] ?? findRepository(world, `${login}/${repository.name}`), branch ?? ''];
}

async function openPullRequest(call: CallIn): Promise<Answer> {
  const { world, repository, body, user } = call;
  const [headRepository, headBranch] = findHead(call, textOf(body, 'head'));
  const baseBranch = textOf(body, 'base');
  const base = branchHead(repository, baseBranch);
  const headSha = headRepository === undefined ? undefined : branchHead(headRepository, headBranch);
  if (headRepository === undefined || base === undefined || headSha === undefined) throw notFound(call);
  const twin = openPullRequests(repository).find((pr) => isTwin(pr, { headRepository, headBranch, baseBranch }));
  if (twin !== undefined) throw new Refused(409, alreadyExists(twin), world);
  const at = world.now();
  const number = repository.pulls.size + 1;
  const common = { repository, headRepository, headBranch, baseBranch, author: user, headSha };
  const pr: PullRequest = {
    ...common,
    id: world.nextId(),
    number,
    title: textOf(body, 'title'),
    body: textOf(body, 'body'),
    labels: new Set(),
    isClosed: false,
    mergeBase: '',
    merged: undefined,
    trial: undefined,
    timeline: [],
    reviews: [],
    createdAt: at,
    updatedAt: at,
    closedAt: undefined,
  };
  repository.pulls.set(number, pr);
  await keepHead(pr, headSha);
  pr.mergeBase = (await findMergeBase(repository.gitDir, base, headSha)) ?? '';
  await addPush(world, pr, user, pr.mergeBase || base, headSha);
  world.announce({ type: 'pull_request', action: 'opened', repository, sender: user, pr });
  return { status: 201, body: await show(call, pr) };
}

function isTwin(
  pr: PullRequest,
  { headRepository, headBranch, baseBranch }: Pick<PullRequest, 'headRepository' | 'headBranch' | 'baseBranch'>,
): boolean {
  return pr.headRepository === headRepository && pr.headBranch === headBranch && pr.baseBranch === baseBranch;
}

function alreadyExists({ id, number, headRepository, repository, headBranch, baseBranch }: PullRequest): string {
  const ids = `id: ${id}, issue_id: ${number}, head_repo_id: ${headRepository?.id}, base_repo_id: ${repository.id}`;
  return `pull request already exists for these targets [${ids}, head_branch: ${headBranch}, base_branch: ${baseBranch}]`;
}

function edit({ world, user, body, repository }: CallIn, pr: PullRequest): void {
  const announce = (action: string) => world.announce({ type: 'pull_request', action, repository, sender: user, pr });
  const [title, state] = [textOf(body, 'title'), textOf(body, 'state')];
  if (title !== '' && title !== pr.title) {
    pr.title = title;
    addItem(world, pr, user, { type: 'change_title' });
    announce('edited');
  }
  if (state === 'closed' && !pr.isClosed) closePullRequest(world, pr, user);
  if (state !== 'open' || !pr.isClosed || pr.merged !== undefined) return;
  pr.isClosed = false;
  pr.closedAt = undefined;
  addItem(world, pr, user, { type: 'reopen' });
  announce('reopened');
}

/** A merged pull request keeps its base, without a word. */
async function changeBase(call: CallIn, pr: PullRequest, base: string): Promise<void> {
  const { world, user, repository } = call;
  if (pr.merged !== undefined || base === '' || base === pr.baseBranch) return;
  if (branchHead(repository, base) === undefined) throw new Refused(404, `new base '${base}' not exist`, world);
  const place = `[id: ${pr.id}, repo_id: ${repository.id}, index: ${pr.number}]`;
  if (pr.isClosed) throw new Refused(422, `Pull Request ${place} is already closed`, world);
  const twin = openPullRequests(repository).find((other) => isTwin(other, { ...pr, baseBranch: base }));
  if (twin !== undefined) throw new Refused(409, alreadyExists(twin), world);
  await moveBase(world, pr, user, base);
}

const REVIEWS: Readonly<Record<string, 'approved' | 'rejected' | 'comment'>> = {
  APPROVED: 'approved',
  REQUEST_CHANGES: 'rejected',
  COMMENT: 'comment',
};

function submitReview({ world, repository, user, body }: CallIn, pr: PullRequest): Review {
  const state = textOf(body, 'event');
  const kind = REVIEWS[state];
  if (kind === undefined) throw new Refused(422, `unknown review type: ${state}`, world);
  if (user === pr.author && kind !== 'comment')
    throw new Refused(422, `${kind === 'approved' ? 'approve' : 'reject'} your own pull is not allowed`, world);
  const rule = protectionOf(repository, pr.baseBranch)?.rule;
  const isListed =
    (rule?.['approvals_whitelist_username'] as readonly string[] | undefined)?.includes(user.login) === true;
  const isOfficial = rule?.['enable_approvals_whitelist'] === true ? isListed : hasMode(repository, user, 'write');
  // A newer word of the same person takes the place of the older.
  for (const other of kind === 'comment' ? [] : pr.reviews) {
    if (other.user !== user) continue;
    other.isOfficial = false;
    other.isDismissed ||= other.state === 'REQUEST_CHANGES';
  }
  const review: Review = {
    id: world.nextId(),
    user,
    state,
    body: textOf(body, 'body'),
    commitId: textOf(body, 'commit_id') || pr.headSha,
    isStale: false,
    isOfficial: kind !== 'comment' && isOfficial,
    isDismissed: false,
    createdAt: world.now(),
  };
  pr.reviews.push(review);
  addItem(world, pr, user, { type: 'review', body: review.body });
  const type = `pull_request_review_${kind}` as const;
  world.announce({ type, action: 'reviewed', repository, sender: user, pr, review });
  return review;
}

/** Whether the repository has the commit. */
export async function hasCommit({ gitDir }: Repository, sha: string): Promise<boolean> {
  return (await findCommit(gitDir, sha)) !== undefined;
}

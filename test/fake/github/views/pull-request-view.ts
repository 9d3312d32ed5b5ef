import { mergeStateOf } from '../blocks.ts';
import type { DiffStat } from '../known-commits.ts';
import type { Caller, Label, Mergeability, PullRequest, Repository, Review, User, World } from '../model.ts';
import { fullNameOf, roleOf } from '../world.ts';
import { repositoryView } from './repository-view.ts';
import { maybeTime, timeView } from './time.ts';
import { userView } from './user-view.ts';

/** The form in lists. */
export function pullRequestView(world: World, pr: PullRequest) {
  const { repository, number } = pr;
  const api = `${world.url}/repos/${fullNameOf(repository)}`;
  const page = `${world.url}/${fullNameOf(repository)}/pull/${number}`;
  return {
    url: `${api}/pulls/${number}`,
    id: pr.id,
    node_id: pr.nodeId,
    html_url: page,
    diff_url: `${page}.diff`,
    patch_url: `${page}.patch`,
    ...linksOf(api, pr),
    number,
    state: pr.state,
    locked: false,
    title: pr.title,
    user: userView(world, pr.author),
    body: pr.body ?? null,
    labels: pr.labels.map((label) => labelView(world, repository, label)),
    milestone: null,
    created_at: timeView(pr.createdAt),
    updated_at: timeView(pr.updatedAt),
    closed_at: maybeTime(pr.closedAt),
    merged_at: maybeTime(pr.merged?.at),
    merge_commit_sha: pr.merged?.sha ?? pr.merge.sha ?? null,
    assignee: null,
    assignees: [],
    requested_reviewers: [],
    requested_teams: [],
    head: endView(world, pr.headRepository, { owner: pr.headOwner, ref: pr.headRef, sha: pr.headSha }),
    base: endView(world, repository, { owner: repository.owner, ref: pr.baseRef, sha: pr.baseSha }),
    _links: hypertext(api, page, pr),
    author_association: associationOf(repository, pr.author),
    auto_merge: null,
    draft: pr.isDraft,
  };
}

interface Worked {
  readonly merge: Mergeability;
  readonly stat: DiffStat;
  /** The caller that reads it. */
  readonly viewer?: Caller;
}

export function fullPullRequestView(world: World, pr: PullRequest, { merge, stat, viewer }: Worked) {
  return {
    ...pullRequestView(world, pr),
    merged: pr.merged !== undefined,
    mergeable: merge.kind === 'unknown' ? null : merge.kind === 'clean',
    rebaseable: merge.kind === 'unknown' ? null : merge.kind === 'clean',
    mergeable_state: mergeStateOf(pr, merge, viewer),
    merged_by: pr.merged === undefined ? null : userView(world, pr.merged.by),
    comments: pr.comments.length,
    review_comments: 0,
    maintainer_can_modify: false,
    commits: stat.commits,
    additions: stat.additions,
    deletions: stat.deletions,
    changed_files: stat.files,
  };
}

function endView(
  world: World,
  repository: Repository | undefined,
  { owner, ref, sha }: { readonly owner: User; readonly ref: string; readonly sha: string },
) {
  return {
    label: `${owner.login}:${ref}`,
    ref,
    sha,
    user: userView(world, owner),
    repo: repository === undefined ? null : repositoryView(world, repository),
  };
}

function linksOf(api: string, { number, headSha }: PullRequest) {
  return {
    issue_url: `${api}/issues/${number}`,
    commits_url: `${api}/pulls/${number}/commits`,
    review_comments_url: `${api}/pulls/${number}/comments`,
    review_comment_url: `${api}/pulls/comments{/number}`,
    comments_url: `${api}/issues/${number}/comments`,
    statuses_url: `${api}/statuses/${headSha}`,
  };
}

function hypertext(api: string, page: string, pr: PullRequest) {
  const links = linksOf(api, pr);
  return {
    self: { href: `${api}/pulls/${pr.number}` },
    html: { href: page },
    issue: { href: links.issue_url },
    comments: { href: links.comments_url },
    review_comments: { href: links.review_comments_url },
    review_comment: { href: links.review_comment_url },
    commits: { href: links.commits_url },
    statuses: { href: links.statuses_url },
  };
}

export function labelView(world: World, repository: Repository, { id, nodeId, name, color, description }: Label) {
  return {
    id,
    node_id: nodeId,
    url: `${world.url}/repos/${fullNameOf(repository)}/labels/${encodeURIComponent(name)}`,
    name,
    color,
    default: false,
    description: description ?? null,
  };
}

export function reviewView(world: World, pr: PullRequest, review: Review) {
  const { repository, number } = pr;
  const page = `${world.url}/${fullNameOf(repository)}/pull/${number}#pullrequestreview-${review.id}`;
  const api = `${world.url}/repos/${fullNameOf(repository)}/pulls/${number}`;
  return {
    id: review.id,
    node_id: review.nodeId,
    user: userView(world, review.author),
    body: review.body,
    state: review.state,
    html_url: page,
    pull_request_url: api,
    author_association: associationOf(repository, review.author),
    _links: { html: { href: page }, pull_request: { href: api } },
    submitted_at: timeView(review.at),
    commit_id: review.sha,
  };
}

export function associationOf(repository: Repository, user: User): string {
  if (repository.owner === user) return 'OWNER';
  const role = roleOf(repository, user);
  if (role === 'none' || role === 'read') return 'NONE';
  return repository.owner.type === 'Organization' ? 'MEMBER' : 'COLLABORATOR';
}

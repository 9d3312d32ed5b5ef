import type { Commit } from '../hosted/git.ts';
import { unknown } from './mergeability.ts';
import type { CheckSuite, Protection, PullRequest, Repository, User, WorkflowRun, World } from './model.ts';
import { suiteView } from './views/check-view.ts';
import { commitView } from './views/commit-view.ts';
import { fullPullRequestView, pullRequestView } from './views/pull-request-view.ts';
import { repositoryView } from './views/repository-view.ts';
import { maybeTime, timeView } from './views/time.ts';
import { namedLinks, prefixed } from './views/user-view.ts';
import { fullNameOf } from './world.ts';

const NO_STAT = { commits: 0, files: 0, additions: 0, deletions: 0 };

/** A webhook does not wait for mergeability: unknown is null. */
export function pullRequestPayload(world: World, pr: PullRequest) {
  const merge = pr.merge.headSha === pr.headSha ? pr.merge : unknown(pr, pr.baseSha);
  return { ...fullPullRequestView(world, pr, { merge, stat: NO_STAT }), active_lock_reason: null };
}

/** Every pull request is also an issue. */
export function issueView(world: World, pr: PullRequest) {
  const view = pullRequestView(world, pr);
  const url = `${world.url}/repos/${fullNameOf(pr.repository)}/issues/${pr.number}`;
  const { id, node_id, number, title, user, labels, state, locked, created_at, updated_at, closed_at, body } = view;
  return {
    url,
    repository_url: `${world.url}/repos/${fullNameOf(pr.repository)}`,
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: view.html_url,
    ...{ id, node_id, number, title, user, labels, state, locked, created_at, updated_at, closed_at, body },
    assignee: null,
    assignees: [],
    milestone: null,
    comments: pr.comments.length,
    author_association: view.author_association,
    active_lock_reason: null,
    draft: pr.isDraft,
    pull_request: {
      url: view.url,
      html_url: view.html_url,
      diff_url: view.diff_url,
      patch_url: view.patch_url,
      merged_at: maybeTime(pr.merged?.at),
    },
    reactions: noReactions(url),
    timeline_url: `${url}/timeline`,
    performed_via_github_app: null,
    state_reason: null,
  };
}

function noReactions(url: string) {
  const none = { '+1': 0, '-1': 0, laugh: 0, hooray: 0, confused: 0, heart: 0, rocket: 0, eyes: 0 };
  return { url: `${url}/reactions`, total_count: 0, ...none };
}

const ORGANIZATION_LINKS = namedLinks('repos events hooks issues members{/member} public_members{/member}');

export function organizationView({ url }: World, { login, id, nodeId }: User) {
  const self = `${url}/orgs/${login}`;
  return {
    login,
    id,
    node_id: nodeId,
    url: self,
    ...prefixed(self, ORGANIZATION_LINKS),
    avatar_url: `${url}/avatars/u/${id}`,
    description: '',
  };
}

/** Push payloads are older than the rest of the API and have some timestamps in seconds. */
export function repositoryOfPush(world: World, repository: Repository) {
  const view = repositoryView(world, repository);
  const { defaultBranch, createdAt, updatedAt, owner } = repository;
  return {
    ...view,
    owner: { name: owner.login, email: null, ...view.owner },
    url: view.html_url,
    created_at: Math.floor(createdAt / 1000),
    pushed_at: Math.floor(updatedAt / 1000),
    stargazers: 0,
    master_branch: defaultBranch,
    ...(owner.type === 'Organization' ? { organization: owner.login } : {}),
  };
}

export function shortRepositoryView(repository: Repository) {
  const { id, nodeId, name, isPrivate } = repository;
  return { id, node_id: nodeId, name, full_name: fullNameOf(repository), private: isPrivate };
}

export function commitInPush(page: string, { sha, tree, message, author, committer }: Commit) {
  return {
    id: sha,
    tree_id: tree,
    distinct: true,
    message,
    timestamp: timeView(committer.at),
    url: `${page}/commit/${sha}`,
    author: { name: author.name, email: author.email, username: author.name },
    committer: { name: committer.name, email: committer.email, username: committer.name },
    added: [],
    removed: [],
    modified: [],
  };
}

export function suiteInCheckView(world: World, repository: Repository, suite: CheckSuite) {
  const view = suiteView(world, repository, suite, undefined);
  const { id, node_id, head_branch, head_sha, status, conclusion, url, after, pull_requests, app } = view;
  const { created_at, updated_at } = view;
  return {
    ...{ id, node_id, head_branch, head_sha, status, conclusion, url, after, pull_requests, app },
    before: view.before,
    ...{ created_at, updated_at },
  };
}

export function commitOfStatus(world: World, repository: Repository, sha: string, commit: Commit | undefined) {
  const nobody = { name: 'Nobody', email: 'nobody@example.test', at: 0 };
  return commitView(
    world,
    repository,
    commit ?? { sha, tree: sha, parents: [], author: nobody, committer: nobody, message: '' },
  );
}

export function protectionRuleView(repository: Repository, protection: Protection) {
  const { checks, reviews, pushers } = protection;
  const level = (isOn: boolean) => (isOn ? 'everyone' : 'off');
  return {
    id: protection.id,
    repository_id: repository.id,
    name: protection.pattern,
    created_at: timeView(repository.createdAt),
    updated_at: timeView(repository.updatedAt),
    pull_request_reviews_enforcement_level: level(reviews !== undefined),
    required_approving_review_count: reviews?.count ?? 0,
    dismiss_stale_reviews_on_push: reviews?.dismissesStale ?? false,
    require_code_owner_review: reviews?.needsCodeOwners ?? false,
    authorized_dismissal_actors_only: false,
    ignore_approvals_from_contributors: false,
    require_last_push_approval: false,
    required_status_checks: checks?.map(({ context }) => context) ?? [],
    required_status_checks_enforcement_level: level(checks !== undefined),
    strict_required_status_checks_policy: protection.isStrict,
    signature_requirement_enforcement_level: 'off',
    linear_history_requirement_enforcement_level: 'off',
    admin_enforced: false,
    create_protected: false,
    allow_force_pushes_enforcement_level: 'off',
    allow_deletions_enforcement_level: 'off',
    merge_queue_enforcement_level: 'off',
    required_deployments_enforcement_level: 'off',
    required_conversation_resolution_level: 'off',
    lock_branch_enforcement_level: 'off',
    lock_allows_fork_sync: false,
    authorized_actors_only: pushers !== undefined,
    authorized_actor_names: pushers ?? [],
  };
}

export function workflowView(world: World, repository: Repository, run: WorkflowRun) {
  const page = `${world.url}/${fullNameOf(repository)}`;
  return {
    id: run.workflowId,
    node_id: `W_${run.workflowId}`,
    name: run.name,
    path: run.path,
    state: 'active',
    created_at: timeView(repository.createdAt),
    updated_at: timeView(repository.createdAt),
    url: `${world.url}/repos/${fullNameOf(repository)}/actions/workflows/${run.workflowId}`,
    html_url: `${page}/blob/${repository.defaultBranch}/${run.path}`,
    badge_url: `${page}/actions/workflows/${run.path.split('/').at(-1)}/badge.svg`,
  };
}

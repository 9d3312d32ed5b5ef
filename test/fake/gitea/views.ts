import {
  branchHead,
  fullNameOf,
  type Hook,
  hasMode,
  isDraft,
  type Label,
  type Protection,
  type PullRequest,
  type Repository,
  type Review,
  type Status,
  type TimelineItem,
  type User,
  type World,
} from './model.ts';

/** The fields of Gitea's answers that Sluice or its tests read, in Gitea's words. */
export type View = Readonly<Record<string, unknown>>;

export function timeOf(at: number): string {
  return new Date(at).toISOString().replace('.000Z', 'Z');
}

export function userView({ url }: World, { id, login, email, isAdmin }: User): View {
  const html_url = `${url}/${login}`;
  return { id, login, full_name: '', email, html_url, is_admin: isAdmin, username: login };
}

export function repositoryView(world: World, repository: Repository, caller: User | undefined): View {
  const { id, name, owner, parent, settings, defaultBranch } = repository;
  const has = (mode: 'read' | 'write' | 'admin') => hasMode(repository, caller, mode);
  return {
    id,
    owner: userView(world, owner),
    name,
    full_name: fullNameOf(repository),
    empty: branchHead(repository, defaultBranch) === undefined,
    private: repository.isPrivate,
    fork: parent !== undefined,
    ...(parent === undefined ? {} : { parent: repositoryView(world, parent, caller) }),
    html_url: `${world.url}/${fullNameOf(repository)}`,
    clone_url: `${world.url}/${fullNameOf(repository)}.git`,
    default_branch: defaultBranch,
    archived: repository.isArchived,
    permissions: { admin: has('admin'), push: has('write'), pull: has('read') },
    ...settings,
  };
}

export function labelView({ id, name, color }: Label): View {
  return { id, name, exclusive: false, is_archived: false, color, description: '' };
}

export function pullRequestView(world: World, pr: PullRequest, caller: User | undefined, isClean: boolean): View {
  const { repository, headRepository, headBranch, merged } = pr;
  const htmlUrl = `${world.url}/${fullNameOf(repository)}/pulls/${pr.number}`;
  const headNow = headRepository === undefined ? undefined : branchHead(headRepository, headBranch);
  return {
    id: pr.id,
    url: htmlUrl,
    number: pr.number,
    user: userView(world, pr.author),
    title: pr.title,
    body: pr.body,
    labels: [...pr.labels].map(labelView),
    state: pr.isClosed ? 'closed' : 'open',
    draft: isDraft(pr),
    comments: pr.timeline.filter(({ type }) => type === 'comment').length,
    html_url: htmlUrl,
    mergeable: !isDraft(pr) && isClean,
    merged: merged !== undefined,
    merged_at: merged === undefined ? null : timeOf(merged.at),
    merge_commit_sha: merged?.sha ?? null,
    merged_by: merged === undefined ? null : userView(world, merged.by),
    base: {
      label: pr.baseBranch,
      ref: pr.baseBranch,
      sha: branchHead(repository, pr.baseBranch) ?? '',
      repo_id: repository.id,
      repo: repositoryView(world, repository, caller),
    },
    head: {
      label: headBranch,
      ref: headNow === undefined ? `refs/pull/${pr.number}/head` : headBranch,
      sha: headNow ?? pr.headSha,
      repo_id: headRepository?.id ?? -1,
      repo: headRepository === undefined ? null : repositoryView(world, headRepository, caller),
    },
    merge_base: pr.mergeBase,
    created_at: timeOf(pr.createdAt),
    updated_at: timeOf(pr.updatedAt),
    closed_at: pr.closedAt === undefined ? null : timeOf(pr.closedAt),
  };
}

/** A pull request as an issue, in webhooks of comments. */
export function issueView(world: World, pr: PullRequest): View {
  const { id, number, title, body, labels, isClosed, repository } = pr;
  const html_url = `${world.url}/${fullNameOf(repository)}/pulls/${number}`;
  const state = isClosed ? 'closed' : 'open';
  return {
    id,
    html_url,
    number,
    user: userView(world, pr.author),
    title,
    body,
    labels: [...labels].map(labelView),
    state,
  };
}

export function commentView(world: World, pr: PullRequest, item: TimelineItem): View {
  const { id, user, body, createdAt, updatedAt } = item;
  const pull_request_url = `${world.url}/${fullNameOf(pr.repository)}/pulls/${pr.number}`;
  return {
    id,
    html_url: `${pull_request_url}#issuecomment-${id}`,
    pull_request_url,
    issue_url: '',
    user: userView(world, user),
    body,
    created_at: timeOf(createdAt),
    updated_at: timeOf(updatedAt),
  };
}

export function timelineView(world: World, pr: PullRequest, item: TimelineItem): View {
  const { type, label } = item;
  return {
    ...commentView(world, pr, item),
    type,
    old_ref: '',
    new_ref: '',
    label: label === undefined ? null : labelView(label),
  };
}

export function reviewView(world: World, pr: PullRequest, review: Review): View {
  const { id, user, state, body, commitId, isStale, isOfficial, isDismissed, createdAt } = review;
  return {
    id,
    user: userView(world, user),
    team: null,
    state,
    body,
    commit_id: commitId,
    stale: isStale,
    official: isOfficial,
    dismissed: isDismissed,
    comments_count: 0,
    submitted_at: timeOf(createdAt),
    updated_at: timeOf(createdAt),
    pull_request_url: `${world.url}/${fullNameOf(pr.repository)}/pulls/${pr.number}`,
  };
}

export function statusView(world: World, repository: Repository, status: Status): View {
  return {
    id: status.id,
    status: status.state,
    target_url: status.targetUrl,
    description: status.description,
    url: `${world.url}/api/v1/repos/${fullNameOf(repository)}/statuses/${status.sha}`,
    context: status.context,
    creator: userView(world, status.creator),
    created_at: timeOf(status.createdAt),
    updated_at: timeOf(status.createdAt),
  };
}

export function protectionView({ ruleName, rule, createdAt, updatedAt }: Protection): View {
  const branchName = /[*?\\[\]]/.test(ruleName) ? '' : ruleName;
  const times = { created_at: timeOf(createdAt), updated_at: timeOf(updatedAt) };
  return { branch_name: branchName, rule_name: ruleName, ...rule, ...times };
}

export function hookView({ id, type, config, events, isActive, createdAt, updatedAt }: Hook): View {
  const { secret: _, ...shown } = config;
  const times = { created_at: timeOf(createdAt), updated_at: timeOf(updatedAt) };
  return {
    id,
    name: '',
    type,
    branch_filter: '',
    config: shown,
    events,
    authorization_header: '',
    active: isActive,
    ...times,
  };
}

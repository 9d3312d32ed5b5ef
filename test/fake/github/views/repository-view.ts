import type { Repository, World } from '../model.ts';
import { openPullRequests } from '../refs.ts';
import { fullNameOf } from '../world.ts';
import { timeView } from './time.ts';
import { userView } from './user-view.ts';

/** The short form inside other objects. */
export function minimalRepositoryView(world: World, repository: Repository) {
  const { id, nodeId, name, owner, isPrivate, parent } = repository;
  const fullName = fullNameOf(repository);
  const self = `${world.url}/repos/${fullName}`;
  return {
    id,
    node_id: nodeId,
    name,
    full_name: fullName,
    private: isPrivate,
    owner: userView(world, owner),
    html_url: `${world.url}/${fullName}`,
    description: null,
    fork: parent !== undefined,
    url: self,
    ...linksOf(self),
  };
}

export function repositoryView(world: World, repository: Repository) {
  const { defaultBranch, isPrivate, isArchived, createdAt, updatedAt, settings } = repository;
  const page = `${world.url}/${fullNameOf(repository)}`;
  const open = openPullRequests(repository).length;
  return {
    ...minimalRepositoryView(world, repository),
    git_url: `git:${page.slice(page.indexOf(':') + 1)}.git`,
    ssh_url: `git@127.0.0.1:${fullNameOf(repository)}.git`,
    clone_url: `${page}.git`,
    svn_url: page,
    mirror_url: null,
    homepage: null,
    language: null,
    license: null,
    size: 1,
    forks: 0,
    forks_count: 0,
    stargazers_count: 0,
    watchers: 0,
    watchers_count: 0,
    open_issues: open,
    open_issues_count: open,
    default_branch: defaultBranch,
    visibility: isPrivate ? 'private' : 'public',
    is_template: false,
    topics: [],
    has_issues: true,
    has_projects: true,
    has_downloads: true,
    has_wiki: true,
    has_pages: false,
    has_discussions: false,
    archived: isArchived,
    disabled: false,
    pushed_at: timeView(updatedAt),
    created_at: timeView(createdAt),
    updated_at: timeView(updatedAt),
    allow_squash_merge: settings.allowSquash,
    allow_merge_commit: settings.allowMerge,
    allow_rebase_merge: settings.allowRebase,
    allow_auto_merge: false,
    allow_update_branch: settings.allowUpdateBranch,
    delete_branch_on_merge: settings.deleteBranchOnMerge,
    squash_merge_commit_title: settings.squashTitle,
    squash_merge_commit_message: settings.squashMessage,
    merge_commit_title: settings.mergeTitle,
    merge_commit_message: settings.mergeMessage,
    web_commit_signoff_required: false,
    custom_properties: {},
  };
}

export function fullRepositoryView(world: World, repository: Repository) {
  const { parent } = repository;
  const origin =
    parent === undefined ? {} : { parent: repositoryView(world, parent), source: repositoryView(world, parent) };
  return { ...repositoryView(world, repository), ...origin, network_count: 0, subscribers_count: 0 };
}

function linksOf(self: string) {
  return {
    archive_url: `${self}/{archive_format}{/ref}`,
    assignees_url: `${self}/assignees{/user}`,
    blobs_url: `${self}/git/blobs{/sha}`,
    branches_url: `${self}/branches{/branch}`,
    collaborators_url: `${self}/collaborators{/collaborator}`,
    comments_url: `${self}/comments{/number}`,
    commits_url: `${self}/commits{/sha}`,
    compare_url: `${self}/compare/{base}...{head}`,
    contents_url: `${self}/contents/{+path}`,
    contributors_url: `${self}/contributors`,
    deployments_url: `${self}/deployments`,
    downloads_url: `${self}/downloads`,
    events_url: `${self}/events`,
    forks_url: `${self}/forks`,
    git_commits_url: `${self}/git/commits{/sha}`,
    git_refs_url: `${self}/git/refs{/sha}`,
    git_tags_url: `${self}/git/tags{/sha}`,
    hooks_url: `${self}/hooks`,
    issue_comment_url: `${self}/issues/comments{/number}`,
    issue_events_url: `${self}/issues/events{/number}`,
    issues_url: `${self}/issues{/number}`,
    keys_url: `${self}/keys{/key_id}`,
    labels_url: `${self}/labels{/name}`,
    languages_url: `${self}/languages`,
    merges_url: `${self}/merges`,
    milestones_url: `${self}/milestones{/number}`,
    notifications_url: `${self}/notifications{?since,all,participating}`,
    pulls_url: `${self}/pulls{/number}`,
    releases_url: `${self}/releases{/id}`,
    stargazers_url: `${self}/stargazers`,
    statuses_url: `${self}/statuses/{sha}`,
    subscribers_url: `${self}/subscribers`,
    subscription_url: `${self}/subscription`,
    tags_url: `${self}/tags`,
    teams_url: `${self}/teams`,
    trees_url: `${self}/git/trees{/sha}`,
  };
}

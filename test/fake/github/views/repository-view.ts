import type { Repository, World } from '../model.ts';
import { openPullRequests } from '../refs.ts';
import { fullNameOf } from '../world.ts';
import { timeView } from './time.ts';
import { namedLinks, prefixed, userView } from './user-view.ts';

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
    allow_update_branch: false,
    delete_branch_on_merge: settings.deleteBranchOnMerge,
    squash_merge_commit_title: 'COMMIT_OR_PR_TITLE',
    squash_merge_commit_message: 'COMMIT_MESSAGES',
    merge_commit_title: 'MERGE_MESSAGE',
    merge_commit_message: 'PR_TITLE',
    web_commit_signoff_required: false,
    custom_properties: {},
  };
}

/** The links that end in what their name says, and those that do not. */
const PLURALS =
  namedLinks(`assignees{/user} branches{/branch} collaborators{/collaborator} comments{/number} commits{/sha} contributors
  deployments downloads events forks hooks issues{/number} keys{/key_id} labels{/name} languages merges milestones{/number}
  notifications{?since,all,participating} pulls{/number} releases{/id} stargazers subscribers subscription tags teams`);
const OTHERS = {
  archive_url: '{archive_format}{/ref}',
  blobs_url: 'git/blobs{/sha}',
  compare_url: 'compare/{base}...{head}',
  contents_url: 'contents/{+path}',
  git_commits_url: 'git/commits{/sha}',
  git_refs_url: 'git/refs{/sha}',
  git_tags_url: 'git/tags{/sha}',
  issue_comment_url: 'issues/comments{/number}',
  issue_events_url: 'issues/events{/number}',
  statuses_url: 'statuses/{sha}',
  trees_url: 'git/trees{/sha}',
};

function linksOf(self: string) {
  return { ...prefixed(self, PLURALS), ...prefixed(self, OTHERS) };
}

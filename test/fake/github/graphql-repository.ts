import { findCommit } from './git.ts';
import { canAdminister, protectionNode, refNode, rulesetNode } from './graphql-branch.ts';
import { commitNode } from './graphql-checks.ts';
import {
  actorNode,
  at,
  Complaint,
  connection,
  forbidden,
  mustRead,
  type Node,
  narrow,
  type PageArgs,
  type Scope,
  webUrl,
} from './graphql-node.ts';
import { labelNode, pullRequestNode, stateOf } from './graphql-pull-request.ts';
import type { PullRequest, Repository, User } from './model.ts';
import { branchHead } from './refs.ts';
import { fullNameOf, hasRole, roleOf } from './world.ts';

export function repositoryNode(scope: Scope, repository: Repository): Node {
  return {
    ...plainFields(scope, repository),
    ...settingFields(repository),
    ...gitFields(scope, repository),
    ...pullRequestFields(scope, repository),
    ...ruleFields(scope, repository),
    collaborators: (args: CollaboratorArgs) => listCollaborators(scope, repository, args),
    label: ({ name }: { readonly name: string }) => {
      const label = repository.labels.values().find((one) => one.name.toLowerCase() === name.toLowerCase());
      return label === undefined ? null : labelNode(label);
    },
    labels: (args: PageArgs) => connection([...repository.labels.values()], args, labelNode),
  };
}

function plainFields(scope: Scope, repository: Repository): Node {
  const { caller } = scope;
  return {
    __typename: 'Repository',
    id: repository.nodeId,
    databaseId: narrow(repository.id),
    name: repository.name,
    nameWithOwner: fullNameOf(repository),
    url: webUrl(scope, repository),
    owner: () => actorNode(repository.owner),
    isArchived: repository.isArchived,
    isPrivate: repository.isPrivate,
    isFork: repository.parent !== undefined,
    isDisabled: false,
    description: null,
    homepageUrl: null,
    stargazerCount: 0,
    isEmpty: repository.refs.size === 0,
    visibility: repository.isPrivate ? 'PRIVATE' : 'PUBLIC',
    parent: () => (repository.parent === undefined ? null : scope.repositoryNode(repository.parent)),
    createdAt: at(repository.createdAt),
    updatedAt: at(repository.updatedAt),
    viewerPermission: () => (caller.kind === 'user' ? permissionOf(repository, caller.user) : null),
  };
}

function settingFields({ settings }: Repository): Node {
  return {
    deleteBranchOnMerge: settings.deleteBranchOnMerge,
    squashMergeAllowed: settings.allowSquash,
    mergeCommitAllowed: settings.allowMerge,
    rebaseMergeAllowed: settings.allowRebase,
    allowUpdateBranch: settings.allowUpdateBranch,
    autoMergeAllowed: false,
    squashMergeCommitTitle: settings.squashTitle,
    squashMergeCommitMessage: settings.squashMessage,
    mergeCommitTitle: settings.mergeTitle,
    mergeCommitMessage: settings.mergeMessage,
  };
}

interface ObjectArgs {
  readonly oid?: string | null;
  readonly expression?: string | null;
}

function gitFields(scope: Scope, repository: Repository): Node {
  const findRef = (name: string) => {
    const branch = name.replace(/^refs\/heads\//, '');
    return branchHead(repository, branch) === undefined ? null : refNode(scope, repository, branch);
  };
  return {
    ref: ({ qualifiedName }: { readonly qualifiedName: string }) => {
      mustRead(scope, repository, 'contents');
      return findRef(qualifiedName);
    },
    defaultBranchRef: () => findRef(repository.defaultBranch),
    refs: ({ refPrefix, ...args }: PageArgs & { readonly refPrefix: string }) => {
      const branches = [...repository.refs.keys()].filter((ref) => ref.startsWith(refPrefix)).sort();
      return connection(branches, args, (ref) => refNode(scope, repository, ref.replace(/^refs\/heads\//, '')));
    },
    object: async ({ oid, expression }: ObjectArgs) => {
      mustRead(scope, repository, 'contents');
      const commit = await findCommit(repository.gitDir, oid ?? expression ?? 'HEAD');
      return commit === undefined ? null : commitNode(scope, repository, commit.sha);
    },
  };
}

interface PullRequestsArgs extends PageArgs {
  readonly states?: readonly string[] | null;
  readonly headRefName?: string | null;
  readonly baseRefName?: string | null;
  readonly labels?: readonly string[] | null;
  readonly orderBy?: { readonly field: string; readonly direction: 'ASC' | 'DESC' } | null;
}

function pullRequestFields(scope: Scope, repository: Repository): Node {
  const nodeOf = (pr: PullRequest) => pullRequestNode(scope, pr);
  return {
    pullRequest: ({ number }: { readonly number: number }) => {
      mustRead(scope, repository, 'pull_requests');
      const pr = repository.pulls.get(number);
      if (pr !== undefined) return nodeOf(pr);
      throw new Complaint('NOT_FOUND', `Could not resolve to a PullRequest with the number of ${number}.`);
    },
    pullRequests: (args: PullRequestsArgs) => {
      mustRead(scope, repository, 'pull_requests');
      return connection(listPullRequests(repository, args), args, nodeOf);
    },
  };
}

function listPullRequests(repository: Repository, args: PullRequestsArgs): readonly PullRequest[] {
  const { states, headRefName, baseRefName, labels, orderBy } = args;
  const found = [...repository.pulls.values()].filter(
    (pr) =>
      (states?.includes(stateOf(pr)) ?? true) &&
      (headRefName ?? pr.headRef) === pr.headRef &&
      (baseRefName ?? pr.baseRef) === pr.baseRef &&
      (labels?.some((name) => pr.labels.some((label) => label.name === name)) ?? true),
  );
  const instantOf = (pr: PullRequest) => (orderBy?.field === 'UPDATED_AT' ? pr.updatedAt : pr.createdAt);
  const sorted = found.sort((one, other) => instantOf(one) - instantOf(other) || one.number - other.number);
  return orderBy?.direction === 'DESC' ? sorted.reverse() : sorted;
}

function ruleFields(scope: Scope, repository: Repository): Node {
  return {
    branchProtectionRules: (args: PageArgs) => {
      if (!canAdminister(scope, repository)) throw forbidden();
      return connection([...repository.protections.values()], args, (rule) => protectionNode(scope, repository, rule));
    },
    rulesets: (args: PageArgs) => connection(repository.rulesets, args, (ruleset) => rulesetNode(scope, ruleset)),
    mergeQueue: () => null,
  };
}

interface CollaboratorArgs extends PageArgs {
  readonly login?: string | null;
  readonly query?: string | null;
}

/** Lists people, never apps. Null for a caller without push access. */
function listCollaborators(scope: Scope, repository: Repository, args: CollaboratorArgs): Node | null {
  const { caller, world } = scope;
  if (caller.kind === 'user' && !hasRole(repository, caller.user, 'write')) throw forbidden();
  const people = [...repository.roles.keys()]
    .map((login) => world.users.get(login))
    .concat(repository.owner)
    .filter((user) => user?.type === 'User' && roleOf(repository, user) !== 'none') as User[];
  const meant = [...new Set(people)].filter(({ login, name }) => {
    if (typeof args.login === 'string') return login.toLowerCase() === args.login.toLowerCase();
    const query = args.query?.toLowerCase() ?? '';
    return login.toLowerCase().includes(query) || name.toLowerCase().includes(query);
  });
  return connection(meant, args, actorNode, (user) => ({ permission: permissionOf(repository, user) }));
}

function permissionOf(repository: Repository, user: User): string | null {
  const role = roleOf(repository, user);
  return role === 'none' ? null : role.toUpperCase();
}

import { findCommit } from '../hosted/git.ts';
import { canSee } from './auth.ts';
import { commitNode } from './graphql-checks.ts';
import {
  actorNode,
  Complaint,
  connection,
  forbidden,
  mustRead,
  type Node,
  narrow,
  noSuchNode,
  type PageArgs,
  type Scope,
} from './graphql-node.ts';
import { commentNode, pullRequestNode, stateOf } from './graphql-pull-request.ts';
import type { PullRequest, Repository, Rule } from './model.ts';
import { protectionOf, rulesOf } from './protection.ts';
import { branchHead } from './refs.ts';
import { findRenamed, findRepository, hasRole, roleOf } from './world.ts';

interface RepositoryArgs {
  readonly owner: string;
  readonly name: string;
}

/** The fields of every query. */
export function queryFields(scope: Scope): Node {
  return {
    repository: (args: RepositoryArgs) => getRepository(scope, args),
    node: ({ id }: { readonly id: string }) => getComment(scope, id),
    nodes: ({ ids }: { readonly ids: readonly string[] }) => ids.map((id) => getComment(scope, id)),
  };
}

function getRepository(scope: Scope, { owner, name }: RepositoryArgs): Node {
  const fullName = `${owner}/${name}`;
  const repository = findRepository(scope.world, fullName) ?? findRenamed(scope.world, fullName);
  if (repository !== undefined && canSee(scope.caller, repository)) return repositoryNode(scope, repository);
  throw new Complaint('NOT_FOUND', `Could not resolve to a Repository with the name '${fullName}'.`);
}

export function seenRepositories({ world, caller }: Scope): readonly Repository[] {
  return [...world.repositories.values()].filter((repository) => canSee(caller, repository));
}

/** Comments are the only objects that Sluice asks for by their id. */
function getComment(scope: Scope, nodeId: string): Node {
  for (const { pulls } of seenRepositories(scope))
    for (const pr of pulls.values())
      for (const comment of pr.comments) if (comment.nodeId === nodeId) return commentNode(pr, comment);
  throw noSuchNode(nodeId);
}

function repositoryNode(scope: Scope, repository: Repository): Node {
  return {
    id: repository.nodeId,
    databaseId: narrow(repository.id),
    name: repository.name,
    owner: () => actorNode(repository.owner),
    deleteBranchOnMerge: repository.settings.deleteBranchOnMerge,
    defaultBranchRef: () => findRef(scope, repository, repository.defaultBranch),
    ref: ({ qualifiedName }: { readonly qualifiedName: string }) => {
      mustRead(scope, repository, 'contents');
      return findRef(scope, repository, qualifiedName.replace(/^refs\/heads\//, ''));
    },
    object: async ({ oid }: { readonly oid: string }) => {
      mustRead(scope, repository, 'contents');
      const commit = await findCommit(repository.gitDir, oid);
      return commit === undefined ? null : commitNode(scope, repository, commit.sha);
    },
    pullRequest: ({ number }: { readonly number: number }) => {
      mustRead(scope, repository, 'pull_requests');
      const pr = repository.pulls.get(number);
      if (pr !== undefined) return pullRequestNode(scope, pr);
      throw new Complaint('NOT_FOUND', `Could not resolve to a PullRequest with the number of ${number}.`);
    },
    pullRequests: (args: PullRequestsArgs) => {
      mustRead(scope, repository, 'pull_requests');
      return connection(listPullRequests(repository, args), args, (pr) => pullRequestNode(scope, pr));
    },
    collaborators: (args: CollaboratorArgs) => findCollaborator(scope, repository, args),
  };
}

interface PullRequestsArgs extends PageArgs {
  readonly states?: readonly string[] | null;
  readonly headRefName?: string | null;
  readonly baseRefName?: string | null;
  readonly orderBy?: { readonly field: string; readonly direction: 'ASC' | 'DESC' } | null;
}

function listPullRequests({ pulls }: Repository, args: PullRequestsArgs): readonly PullRequest[] {
  const { states, headRefName, baseRefName, orderBy } = args;
  const found = [...pulls.values()].filter(
    (pr) =>
      (states?.includes(stateOf(pr)) ?? true) &&
      (headRefName ?? pr.headRef) === pr.headRef &&
      (baseRefName ?? pr.baseRef) === pr.baseRef,
  );
  const instantOf = (pr: PullRequest) => (orderBy?.field === 'UPDATED_AT' ? pr.updatedAt : pr.createdAt);
  const sorted = found.sort((one, other) => instantOf(one) - instantOf(other) || one.number - other.number);
  return orderBy?.direction === 'DESC' ? sorted.reverse() : sorted;
}

interface CollaboratorArgs extends PageArgs {
  readonly login: string;
}

/** Lists people, never apps. Others than those who may push get an error. */
function findCollaborator({ caller, world }: Scope, repository: Repository, { login }: CollaboratorArgs): Node {
  if (caller.kind === 'user' && !hasRole(repository, caller.user, 'write')) throw forbidden();
  const user = world.users.get(login.toLowerCase());
  const isKnown = user === repository.owner || repository.roles.has(login.toLowerCase());
  if (user?.type !== 'User' || !isKnown || roleOf(repository, user) === 'none') return { edges: [] };
  return { edges: [{ permission: roleOf(repository, user).toUpperCase(), node: actorNode(user) }] };
}

function findRef(scope: Scope, repository: Repository, name: string): Node | null {
  const head = branchHead(repository, name);
  if (head === undefined) return null;
  return {
    name,
    target: () => commitNode(scope, repository, head),
    branchProtectionRule: () => findProtection(scope, repository, name),
    refUpdateRule: () => updateRuleNode(repository, name),
    rules: (args: PageArgs) => connection(rulesOf(repository, name), args, ruleNode),
  };
}

/** Branch rules need the administration permission. Others get an error. */
function findProtection({ caller, world }: Scope, repository: Repository, branch: string): Node | null {
  const isGranted =
    caller.kind === 'installation'
      ? caller.permissions['administration'] !== undefined
      : hasRole(repository, caller.user, 'admin');
  if (!isGranted) throw forbidden();
  const protection = protectionOf(repository, branch);
  if (protection === undefined) return null;
  const { checks, isStrict, reviews } = protection;
  return {
    ...UNUSED_RULES,
    requiresStatusChecks: checks !== undefined,
    requiresStrictStatusChecks: isStrict,
    requiredApprovingReviewCount: reviews?.count ?? null,
    requiresCodeOwnerReviews: reviews?.needsCodeOwners ?? false,
    requiredStatusChecks: (checks ?? []).map(({ context, appId }) => ({
      context,
      app: world.apps.get(appId ?? 0) ?? null,
    })),
  };
}

/** The fake has no such rules. */
const UNUSED_RULES = {
  requiresCommitSignatures: false,
  requiresConversationResolution: false,
  requiresDeployments: false,
  requireLastPushApproval: false,
  lockBranch: false,
};

/** The part of the rules that every account with push access may see. */
function updateRuleNode(repository: Repository, branch: string): Node | null {
  const protection = protectionOf(repository, branch);
  if (protection === undefined) return null;
  return {
    requiredStatusCheckContexts: protection.checks?.map(({ context }) => context) ?? [],
    requiresConversationResolution: false,
    requiresSignatures: false,
    requiredApprovingReviewCount: protection.reviews?.count ?? null,
    requiresCodeOwnerReviews: protection.reviews?.needsCodeOwners ?? false,
  };
}

function ruleNode(rule: Rule): Node {
  return { type: rule.type.toUpperCase(), parameters: parametersOf(rule) };
}

function parametersOf(rule: Rule): Node | null {
  switch (rule.type) {
    case 'required_status_checks':
      return {
        __typename: 'RequiredStatusChecksParameters',
        strictRequiredStatusChecksPolicy: rule.isStrict,
        requiredStatusChecks: rule.checks.map(({ context, appId }) => ({ context, integrationId: appId ?? null })),
      };
    case 'pull_request':
      return {
        __typename: 'PullRequestParameters',
        requiredReviewThreadResolution: false,
        requiredApprovingReviewCount: rule.approvals,
        requireCodeOwnerReview: false,
        requireLastPushApproval: false,
      };
    case 'update':
      return { __typename: 'UpdateParameters' };
    default:
      return null;
  }
}

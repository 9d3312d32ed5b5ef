import { commitNode } from './graphql-checks.ts';
import { actorNode, appNode, connection, forbidden, type Node, type PageArgs, type Scope } from './graphql-node.ts';
import type { App, Protection, Repository, Rule, Ruleset, User } from './model.ts';
import { protectionOf, rulesetsOf, rulesOf } from './protection.ts';
import { branchHead } from './refs.ts';
import { hasRole } from './world.ts';

/** The branch must exist. */
export function refNode(scope: Scope, repository: Repository, branch: string): Node {
  const head = branchHead(repository, branch) ?? '';
  return {
    __typename: 'Ref',
    id: `REF_${Buffer.from(`${repository.id}:${branch}`).toString('base64url')}`,
    name: branch,
    prefix: 'refs/heads/',
    repository: () => scope.repositoryNode(repository),
    target: () => commitNode(scope, repository, head),
    branchProtectionRule: () => findProtection(scope, repository, branch),
    refUpdateRule: () => updateRuleNode(repository, branch),
    rules: (args: PageArgs) => connection(rulesWithSets(repository, branch), args, (rule) => ruleNode(scope, rule)),
  };
}

/** Branch rules need the administration permission. Others get an error. */
function findProtection(scope: Scope, repository: Repository, branch: string): Node | null {
  if (!canAdminister(scope, repository)) throw forbidden();
  const protection = protectionOf(repository, branch);
  return protection === undefined ? null : protectionNode(scope, repository, protection);
}

export function canAdminister({ caller }: Scope, repository: Repository): boolean {
  if (caller.kind === 'installation') return caller.permissions['administration'] !== undefined;
  return hasRole(repository, caller.user, 'admin');
}

export function protectionNode(scope: Scope, repository: Repository, protection: Protection): Node {
  const { checks, reviews, pushers, bypassers } = protection;
  const allowance = (name: string) => allowanceNode(scope, name);
  return {
    __typename: 'BranchProtectionRule',
    id: protection.nodeId,
    databaseId: protection.id,
    pattern: protection.pattern,
    repository: () => scope.repositoryNode(repository),
    isAdminEnforced: protection.bindsAdmins,
    allowsForcePushes: protection.allowsForcePushes,
    allowsDeletions: protection.allowsDeletions,
    requiresLinearHistory: protection.needsLinearHistory,
    requiresStatusChecks: checks !== undefined,
    requiresStrictStatusChecks: protection.isStrict,
    requiredStatusCheckContexts: checks?.map(({ context }) => context) ?? [],
    requiredStatusChecks: () => checks?.map(({ context, appId }) => ({ context, app: findApp(scope, appId) })) ?? [],
    requiresApprovingReviews: reviews !== undefined,
    requiredApprovingReviewCount: reviews?.count ?? null,
    requiresCodeOwnerReviews: reviews?.needsCodeOwners ?? false,
    dismissesStaleReviews: reviews?.dismissesStale ?? false,
    requiresCommitSignatures: false,
    requiresConversationResolution: false,
    requiresDeployments: false,
    requireLastPushApproval: false,
    restrictsReviewDismissals: false,
    blocksCreations: false,
    lockBranch: false,
    restrictsPushes: pushers !== undefined,
    pushAllowances: (args: PageArgs) => connection(pushers ?? [], args, allowance),
    bypassPullRequestAllowances: (args: PageArgs) => connection(bypassers, args, allowance),
  };
}

function findApp({ world }: Scope, id: number | undefined): Node | null {
  const app = id === undefined ? undefined : world.apps.get(id);
  return app === undefined ? null : appNode(app);
}

function allowanceNode({ world }: Scope, name: string): Node {
  const app: App | undefined = world.apps.values().find(({ slug }) => slug === name);
  const user: User | undefined = world.users.get(name.toLowerCase());
  const actor = app !== undefined ? appNode(app) : user === undefined ? null : actorNode(user);
  return { id: `A_${name}`, actor };
}

/** The part of the rules that every account with push access may see. */
function updateRuleNode(repository: Repository, branch: string): Node | null {
  const protection = protectionOf(repository, branch);
  if (protection === undefined) return null;
  return {
    pattern: protection.pattern,
    allowsDeletions: protection.allowsDeletions,
    allowsForcePushes: protection.allowsForcePushes,
    blocksCreations: false,
    requiredApprovingReviewCount: protection.reviews?.count ?? null,
    requiredStatusCheckContexts: protection.checks?.map(({ context }) => context) ?? [],
    requiresCodeOwnerReviews: protection.reviews?.needsCodeOwners ?? false,
    requiresConversationResolution: false,
    requiresLinearHistory: protection.needsLinearHistory,
    requiresSignatures: false,
  };
}

/** Combines both kinds of rules. */
export function neededApprovals(repository: Repository, branch: string): number {
  const ofRules = rulesOf(repository, branch).map((rule) => (rule.type === 'pull_request' ? rule.approvals : 0));
  return Math.max(protectionOf(repository, branch)?.reviews?.count ?? 0, ...ofRules);
}

interface RuleInSet {
  readonly ruleset: Ruleset;
  readonly rule: Rule;
  readonly index: number;
}

function rulesWithSets(repository: Repository, branch: string): readonly RuleInSet[] {
  return rulesetsOf(repository, branch).flatMap((ruleset) =>
    ruleset.rules.map((rule, index) => ({ ruleset, rule, index })),
  );
}

function ruleNode(scope: Scope, { ruleset, rule, index }: RuleInSet): Node {
  return {
    __typename: 'RepositoryRule',
    id: `RRU_${ruleset.id}_${index}`,
    type: rule.type.toUpperCase(),
    parameters: () => parametersOf(rule),
    repositoryRuleset: () => rulesetNode(scope, ruleset),
  };
}

export function rulesetNode(scope: Scope, ruleset: Ruleset): Node {
  return {
    __typename: 'RepositoryRuleset',
    id: ruleset.nodeId,
    databaseId: ruleset.id,
    name: ruleset.name,
    enforcement: ruleset.enforcement.toUpperCase(),
    target: 'BRANCH',
    conditions: { refName: { include: ruleset.include, exclude: ruleset.exclude } },
    rules: (args: PageArgs) =>
      connection(
        ruleset.rules.map((rule, index) => ({ ruleset, rule, index })),
        args,
        (rule) => ruleNode(scope, rule),
      ),
    bypassActors: (args: PageArgs) =>
      connection(ruleset.bypass, args, ({ actorId, type, mode }) => ({
        __typename: 'RepositoryRulesetBypassActor',
        id: `RRBA_${ruleset.id}_${actorId}`,
        actor: type === 'Integration' ? findApp(scope, actorId) : null,
        bypassMode: mode.toUpperCase(),
        organizationAdmin: type === 'OrganizationAdmin',
        repositoryRoleDatabaseId: type === 'RepositoryRole' ? actorId : null,
      })),
  };
}

function parametersOf(rule: Rule): Node | null {
  switch (rule.type) {
    case 'required_status_checks':
      return {
        __typename: 'RequiredStatusChecksParameters',
        doNotEnforceOnCreate: false,
        strictRequiredStatusChecksPolicy: rule.isStrict,
        requiredStatusChecks: rule.checks.map(({ context, appId }) => ({ context, integrationId: appId ?? null })),
      };
    case 'pull_request':
      return {
        __typename: 'PullRequestParameters',
        requiredApprovingReviewCount: rule.approvals,
        allowedMergeMethods: rule.methods?.map((method) => method.toUpperCase()) ?? ['MERGE', 'SQUASH', 'REBASE'],
        dismissStaleReviewsOnPush: false,
        requireCodeOwnerReview: false,
        requireLastPushApproval: false,
        requiredReviewThreadResolution: false,
      };
    case 'update':
      return { __typename: 'UpdateParameters', updateAllowsFetchAndMerge: false };
    default:
      return null;
  }
}

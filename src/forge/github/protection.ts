import type { RequiredStatus } from '../../engine/model/check.ts';
import type { Timing } from '../../lib/clock.ts';
import { Remembered } from '../../lib/remembered.ts';
import type { ForgeRepository } from '../forge.ts';
import { keyOf } from '../hosted/repository-key.ts';
import type { GithubClient } from './api/client.ts';

/** The combined rules of classic protection and rulesets for one branch. */
export interface BranchRules {
  /** A check may name the app that must report it, by slug or by number as text. */
  readonly checks: readonly RequiredStatus[];
  /** Pull requests must contain the head of the branch. */
  readonly isStrict: boolean;
  readonly restrictsUpdates: boolean;
  readonly needsResolvedThreads: boolean;
  /** Number of approving reviews. */
  readonly approvals: number;
  /** Code owners or the last pusher decide too, or some rules about reviews are hidden. */
  readonly needsMoreThanApprovals: boolean;
  /** True when checks, reviews and threads decide all rules. */
  readonly isJudgeable: boolean;
  /** The App lacks Administration: read, so classic protection is only partly visible. */
  readonly isPartial: boolean;
}

export interface Protection {
  /** Up to a minute old. */
  readRules(repository: ForgeRepository, branch: string): Promise<BranchRules>;
  forget(): void;
}

export interface ProtectionOptions {
  readonly client: GithubClient;
  readonly clock: Timing;
}

const KEPT_MS = 60_000;
const MAX_KEPT = 1_000;

// SPEC G124
export function createProtection({ client, clock }: ProtectionOptions): Protection {
  const known = new Remembered<BranchRules>({ capacity: MAX_KEPT, maxAgeMs: KEPT_MS, now: () => clock.now() });
  return {
    readRules: (repository, branch) =>
      known.get(`${keyOf(repository)} ${branch}`, () => askRules(client, repository, branch)),
    // Rules change rarely, so clearing the whole cache costs little.
    forget: () => known.forget(),
  };
}

const QUERY = `query ReadRules($owner: String!, $name: String!, $ref: String!) { repository(owner: $owner, name: $name) {
  ref(qualifiedName: $ref) {
    branchProtectionRule { requiresStatusChecks requiresStrictStatusChecks requiresConversationResolution
      requiredApprovingReviewCount requiresCodeOwnerReviews requireLastPushApproval
      requiresCommitSignatures requiresDeployments lockBranch requiredStatusChecks { context app { slug } } }
    refUpdateRule { requiredStatusCheckContexts requiresConversationResolution requiresSignatures
      requiredApprovingReviewCount requiresCodeOwnerReviews }
    rules(first: 100) { nodes { type parameters { __typename
      ... on RequiredStatusChecksParameters { strictRequiredStatusChecksPolicy
        requiredStatusChecks { context integrationId } }
      ... on PullRequestParameters { requiredReviewThreadResolution requiredApprovingReviewCount requireCodeOwnerReview
        requireLastPushApproval } } } } } } }`;

export interface RefNode {
  readonly branchProtectionRule: ClassicRule | null;
  readonly refUpdateRule: VisibleRule | null;
  readonly rules: { readonly nodes: readonly (RuleNode | null)[] | null } | null;
}

interface ClassicRule {
  readonly requiresStatusChecks: boolean;
  readonly requiresStrictStatusChecks: boolean;
  readonly requiresConversationResolution: boolean;
  readonly requiredApprovingReviewCount: number | null;
  readonly requiresCodeOwnerReviews: boolean;
  readonly requireLastPushApproval: boolean;
  readonly requiresCommitSignatures: boolean;
  readonly requiresDeployments: boolean;
  readonly lockBranch: boolean;
  readonly requiredStatusChecks:
    | readonly { readonly context: string; readonly app: { readonly slug: string } | null }[]
    | null;
}

/** The part of classic protection that GitHub shows without Administration: read. */
interface VisibleRule {
  readonly requiredStatusCheckContexts: readonly (string | null)[] | null;
  readonly requiresConversationResolution: boolean;
  readonly requiresSignatures: boolean;
  readonly requiredApprovingReviewCount: number | null;
  readonly requiresCodeOwnerReviews: boolean;
}

interface RuleNode {
  readonly type: string;
  readonly parameters: {
    readonly strictRequiredStatusChecksPolicy?: boolean;
    readonly requiredStatusChecks?: readonly { readonly context: string; readonly integrationId: number | null }[];
    readonly requiredReviewThreadResolution?: boolean;
    readonly requiredApprovingReviewCount?: number;
    readonly requireCodeOwnerReview?: boolean;
    readonly requireLastPushApproval?: boolean;
  } | null;
}

async function askRules(client: GithubClient, repository: ForgeRepository, branch: string): Promise<BranchRules> {
  const { data, problems } = await client.graphql<{ readonly repository: { readonly ref: RefNode | null } }>({
    repository,
    query: QUERY,
    variables: { ref: `refs/heads/${branch}` },
    urgency: 'land',
    mayBeForbidden: ['branchProtectionRule', 'refUpdateRule', 'rules'],
  });
  return rulesOf(
    data.repository.ref,
    problems.some(({ type }) => type === 'FORBIDDEN'),
  );
}

/** Kinds of rules that do not affect readiness, or that other fields decide. */
const JUDGEABLE = new Set([
  'CREATION',
  'DELETION',
  'NON_FAST_FORWARD',
  'PULL_REQUEST',
  'REQUIRED_LINEAR_HISTORY',
  'REQUIRED_REVIEW_THREAD_RESOLUTION',
  'REQUIRED_STATUS_CHECKS',
  'UPDATE',
]);

export function rulesOf(ref: RefNode | null, isForbidden: boolean): BranchRules {
  const rules = (ref?.rules?.nodes ?? []).filter((rule) => rule !== null);
  const classic = ref?.branchProtectionRule;
  const visible = ref?.refUpdateRule;
  const isPartial = isForbidden && (classic ?? null) === null;
  return {
    checks: requiredOf([...classicChecks(classic, visible), ...rules.flatMap(rulesetChecks)]),
    isStrict:
      (classic?.requiresStatusChecks === true && classic.requiresStrictStatusChecks) ||
      rules.some(({ parameters }) => parameters?.strictRequiredStatusChecksPolicy === true),
    restrictsUpdates: rules.some(({ type }) => type === 'UPDATE'),
    needsResolvedThreads:
      (classic?.requiresConversationResolution ?? visible?.requiresConversationResolution) === true ||
      rules.some(isAboutThreads),
    approvals: Math.max(
      (classic ?? visible)?.requiredApprovingReviewCount ?? 0,
      ...rules.map(({ parameters }) => parameters?.requiredApprovingReviewCount ?? 0),
    ),
    needsMoreThanApprovals:
      ref?.rules === null ||
      (isPartial && visible !== null && visible !== undefined) ||
      classic?.requiresCodeOwnerReviews === true ||
      classic?.requireLastPushApproval === true ||
      rules.some(isAboutReviewers),
    isJudgeable: rules.every(({ type }) => JUDGEABLE.has(type)) && isClassicJudgeable(classic, visible),
    isPartial,
  };
}

function isAboutThreads({ type, parameters }: RuleNode): boolean {
  return type === 'REQUIRED_REVIEW_THREAD_RESOLUTION' || parameters?.requiredReviewThreadResolution === true;
}

function isAboutReviewers({ parameters }: RuleNode): boolean {
  return parameters?.requireCodeOwnerReview === true || parameters?.requireLastPushApproval === true;
}

// SPEC G11
function isClassicJudgeable(classic: ClassicRule | null | undefined, visible: VisibleRule | null | undefined): boolean {
  if (classic === null || classic === undefined) return visible?.requiresSignatures !== true;
  return !classic.requiresCommitSignatures && !classic.requiresDeployments && !classic.lockBranch;
}

function classicChecks(
  classic: ClassicRule | null | undefined,
  visible: VisibleRule | null | undefined,
): readonly RequiredStatus[] {
  if (classic === null || classic === undefined) {
    return (visible?.requiredStatusCheckContexts ?? []).filter((context) => context !== null);
  }
  if (!classic.requiresStatusChecks) return [];
  return (classic.requiredStatusChecks ?? []).map(({ context, app }) =>
    app === null ? context : { name: context, app: app.slug },
  );
}

function rulesetChecks({ parameters }: RuleNode): readonly RequiredStatus[] {
  return (parameters?.requiredStatusChecks ?? []).map(({ context, integrationId }) =>
    integrationId === null ? context : { name: context, app: String(integrationId) },
  );
}

// SPEC G14
function requiredOf(statuses: readonly RequiredStatus[]): readonly RequiredStatus[] {
  const byKey = new Map(statuses.map((status) => [JSON.stringify(status), status]));
  const ofApps = new Set(statuses.flatMap((status) => (typeof status === 'string' ? [] : [status.name])));
  return [...byKey.values()].filter((status) => typeof status !== 'string' || !ofApps.has(status));
}

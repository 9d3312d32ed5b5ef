import type { RequiredStatus } from '../../engine/model/check.ts';
import type {
  BlockReason,
  PassedCheck,
  PrNumber,
  PullRequestFacts,
  UpToDate,
} from '../../engine/model/pull-request.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import type { Timing } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import type { Sha } from '../../lib/sha.ts';
import { dependenciesIn } from '../candidate/depends-on.ts';
import { isPullRequestNumber, printable } from '../candidate/pull-request-ref.ts';
import type { ForgeRepository } from '../forge.ts';
import { mergeTitleIn } from '../hosted/forge-text.ts';
import { blockedBy, isOwn, judgeChecks, notReady, READY, type Readiness } from '../hosted/readiness.ts';
import type { CheckReport } from '../hosting.ts';
import { hasPassed } from '../report-of-check.ts';
import type { GiteaClient } from './api/client.ts';
import type { ProtectionData, PullData, ReviewData } from './api/data.ts';
import type { ConflictMemory } from './conflicts.ts';
import { type BranchRules, matchesContext, type Rules, requiredContexts } from './rules.ts';
import { readReports } from './statuses.ts';
import { readTree } from './tree.ts';

export interface FactsTools {
  readonly client: GiteaClient;
  readonly clock: Timing;
  readonly rules: Rules;
  readonly conflicts: ConflictMemory;
  /** Trees of heads, which never change. */
  readonly trees: BoundedCache<Sha, Sha>;
}

const MAX_REVIEW_PAGES = 10;
const MAX_TREES = 2_000;

export function createTrees(): FactsTools['trees'] {
  return new BoundedCache(MAX_TREES);
}

export async function findPull(
  client: GiteaClient,
  repository: ForgeRepository,
  number: PrNumber,
  isUrgent = false,
): Promise<PullData | undefined> {
  if (!isPullRequestNumber(number)) return undefined;
  return client.find<PullData>({ repository, path: `/pulls/${number}`, isUrgent });
}

/** A landing reads this page before its push, when Gitea has computed what can be merged. */
// SPEC G163
export async function listRecent(
  { client, conflicts }: FactsTools,
  repository: ForgeRepository,
): Promise<ReadonlyMap<PrNumber, PullData>> {
  const query = { state: 'open', sort: 'recentupdate', limit: await client.readPageSize() };
  const { data } = await client.request<readonly PullData[] | null>({
    repository,
    path: '/pulls',
    query,
    isUrgent: true,
  });
  for (const pull of data ?? []) if (pull.mergeable !== false) conflicts.judge(repository, pull);
  return new Map((data ?? []).map((pull) => [pull.number, pull]));
}

export async function findPullRequest(
  tools: FactsTools,
  { repository, number }: { readonly repository: ForgeRepository; readonly number: PrNumber },
): Promise<PullRequestFacts | undefined> {
  const pull = await findPull(tools.client, repository, number);
  return pull && factsOfPull(tools, repository, pull);
}

/** One page of the list holds most of them: those that changed last. */
export async function findPullRequests(
  tools: FactsTools,
  repository: ForgeRepository,
  numbers: readonly PrNumber[],
): Promise<ReadonlyMap<PrNumber, PullRequestFacts>> {
  const listed = await listRecent(tools, repository);
  const found = await Promise.all(
    numbers.map(async (number) => {
      const pull = listed.get(number) ?? (await findPull(tools.client, repository, number));
      return pull && factsOfPull(tools, repository, pull);
    }),
  );
  return new Map(found.flatMap((facts) => (facts === undefined ? [] : [[facts.number, facts] as const])));
}

export async function factsOfPull(
  tools: FactsTools,
  repository: ForgeRepository,
  pull: PullData,
): Promise<PullRequestFacts> {
  const head = headReports(tools, repository, pull);
  const readiness = await readinessOf(tools, repository, pull, head);
  const upToDate = await findUpToDate(tools, repository, pull, head);
  return { ...factsOf(pull, readiness), ...present({ upToDate }) };
}

/** Without the facts that only a direct merge needs, for polls and commands. */
export async function pollFacts(
  tools: FactsTools,
  repository: ForgeRepository,
  pull: PullData,
): Promise<PullRequestFacts> {
  return factsOf(pull, await readinessOf(tools, repository, pull, headReports(tools, repository, pull)));
}

type ReadHead = () => Promise<readonly CheckReport[]>;

/** Statuses of the head without the server's own, read once and only if they are needed. */
function headReports({ client }: FactsTools, repository: ForgeRepository, { head }: PullData): ReadHead {
  let read: Promise<readonly CheckReport[]> | undefined;
  const ask = async () => {
    const { login } = await client.readOwn();
    const reports = await readReports(client, repository, head.sha);
    return reports.filter((report) => !isOwn(report, login));
  };
  return () => {
    read ??= ask();
    return read;
  };
}

function factsOf(pull: PullData, readiness: Readiness): PullRequestFacts {
  const { mergeability, blockReasons, failingChecks, awaitedChecks } = readiness;
  const isForeign = isFork(pull);
  const mergeTitle = mergeTitleIn(pull.body ?? '');
  const dependsOn = dependenciesIn(pull.body ?? '', { url: pull.html_url });
  return {
    number: pull.number,
    headSha: pull.head.sha,
    baseBranch: pull.base.ref,
    title: printable(pull.title),
    author: pull.user?.login ?? 'ghost',
    url: pull.html_url,
    status: statusOf(pull),
    mergeability,
    blockReasons,
    failingChecks,
    awaitedChecks,
    isHeadUntrusted: isForeign,
    ...(!isForeign && { headBranch: pull.head.ref }),
    ...present({ mergeTitle }),
    ...(dependsOn.length > 0 && { dependsOn }),
  };
}

/** A head whose branch or fork is gone counts as foreign too. */
export function isFork({ head, base }: PullData): boolean {
  return head.repo_id !== base.repo_id || head.ref.startsWith('refs/');
}

function statusOf({ state, merged, draft }: PullData): PullRequestFacts['status'] {
  if (merged === true) return 'merged';
  if (state === 'closed') return 'closed';
  return draft === true ? 'draft' : 'open';
}

// SPEC G162
async function readinessOf(
  tools: FactsTools,
  repository: ForgeRepository,
  pull: PullData,
  readHead: ReadHead,
): Promise<Readiness> {
  if (statusOf(pull) === 'merged' || pull.state === 'closed') return notReady('closed');
  if (pull.draft === true) return notReady('draft');
  const conflict = tools.conflicts.judge(repository, pull);
  if (conflict === 'conflict') return notReady('conflict');
  const rules = await tools.rules.read(repository, pull.base.ref);
  const open = rules && (await findOpenRequirement(tools, repository, { pull, rules, readHead }));
  if (open !== undefined) return open;
  return conflict === 'none' ? READY : { mergeability: 'IN_PROGRESS', blockReasons: [] };
}

interface Judged {
  readonly pull: PullData;
  readonly rules: BranchRules;
  readonly readHead: ReadHead;
}

async function findOpenRequirement(
  tools: FactsTools,
  repository: ForgeRepository,
  { pull, rules, readHead }: Judged,
): Promise<Readiness | undefined> {
  const contexts = requiredContexts(rules);
  const reports = contexts === undefined ? [] : await readHead();
  const checks = judgeChecks(reports, contexts === undefined ? [] : expand(contexts, reports));
  const open = blockedBy(await reviewReasons(tools.client, repository, pull, rules), checks);
  if (open !== undefined) return open;
  // Without a named context, Gitea waits for any status.
  if (contexts?.length === 0 && reports.length === 0) return notReady('awaitingCheck');
  const isBehind = pull.merge_base !== undefined && pull.merge_base !== pull.base.sha;
  return rules.protection?.block_on_outdated_branch === true && isBehind ? notReady('behind') : undefined;
}

/** The names that patterns stand for, by what was reported. A pattern that nothing matches is awaited as it is. */
export function expand(patterns: readonly string[], reports: readonly CheckReport[]): readonly RequiredStatus[] {
  const names = [...new Set(reports.map(({ name }) => name))];
  if (patterns.length === 0) return names;
  const matched = patterns.flatMap((pattern) => {
    const fitting = names.filter((name) => matchesContext(pattern, name));
    return fitting.length === 0 ? [pattern] : fitting;
  });
  return [...new Set(matched)];
}

export function listReviews(
  client: GiteaClient,
  repository: ForgeRepository,
  number: PrNumber,
): Promise<readonly ReviewData[]> {
  return client.list<ReviewData>({ repository, path: `/pulls/${number}/reviews` }, MAX_REVIEW_PAGES);
}

export async function reviewReasons(
  client: GiteaClient,
  repository: ForgeRepository,
  { number }: PullData,
  { protection, branch }: BranchRules,
): Promise<readonly BlockReason[]> {
  const needed = protection?.required_approvals ?? branch.required_approvals ?? 0;
  const { block_on_rejected_reviews: rejected, block_on_official_review_requests: requested } = protection ?? {};
  if (needed === 0 && rejected !== true && requested !== true) return [];
  const reviews = await listReviews(client, repository, number);
  const counted = reviews.filter(({ official, dismissed }) => official && !dismissed);
  if (rejected === true && counted.some(({ state }) => state === 'REQUEST_CHANGES')) return ['changesRequested'];
  const ignoresStale = protection?.ignore_stale_approvals === true;
  const approvals = counted.filter(
    (review) => review.state === 'APPROVED' && !(ignoresStale && review.stale) && mayApprove(protection, review),
  );
  const isAwaited = requested === true && counted.some(({ state }) => state === 'REQUEST_REVIEW');
  return approvals.length < needed || isAwaited ? ['reviewRequired'] : [];
}

/**
 * A review stays official when the base changes, although its author may not approve for the new one. Who is in a team
 * is not told, so that official reviews count where teams may approve.
 */
// SPEC G177
function mayApprove(protection: ProtectionData | undefined, { user }: ReviewData): boolean {
  const { enable_approvals_whitelist: isLimited, approvals_whitelist_username: names } = protection ?? {};
  if (isLimited !== true || (protection?.approvals_whitelist_teams ?? []).length > 0) return true;
  return user !== null && (names ?? []).includes(user.login);
}

async function findUpToDate(
  { client, trees }: FactsTools,
  repository: ForgeRepository,
  { state, head, base, merge_base }: PullData,
  readHead: ReadHead,
): Promise<UpToDate | undefined> {
  if (state !== 'open' || base.sha === '' || merge_base !== base.sha) return undefined;
  const passedChecks = (await readHead()).filter(hasPassed).map(passedCheck);
  // Without a passed check, its head proves nothing.
  if (passedChecks.length === 0) return undefined;
  const tree = trees.find(head.sha) ?? (await readTree(client, repository, head.sha));
  if (tree === undefined) return undefined;
  trees.set(head.sha, tree);
  return { targetHead: base.sha, tree, passedChecks };
}

function passedCheck({ name, reporter, reporterId }: CheckReport): PassedCheck {
  return { name, ...present({ reporter, reporterId }) };
}

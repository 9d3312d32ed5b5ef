import type { PassedCheck, PrNumber, PullRequestFacts, UpToDate } from '../../engine/model/pull-request.ts';
import { present } from '../../lib/present.ts';
import type { Sha } from '../../lib/sha.ts';
import { dependenciesIn } from '../candidate/depends-on.ts';
import { printable } from '../candidate/pull-request-ref.ts';
import type { ForgeRepository } from '../forge.ts';
import { mergeTitleIn } from '../hosted/forge-text.ts';
import type { Readiness } from '../hosted/readiness.ts';
import { hasPassed } from '../report-of-check.ts';
import type { GithubClient } from './api/client.ts';
import type { BlockedMemory } from './blocked.ts';
import { type Contexts, isRequiredText, NO_CONTEXTS, readContexts, reportsOf } from './checks.ts';
import { chunksOf, inHalves } from './in-halves.ts';
import { loginOf } from './people.ts';
import type { BranchRules, Protection } from './protection.ts';
import { detailsText, isAskable, type PullRequestDetails, type PullRequestNode } from './pull-request-text.ts';
import { hasOpenThread, readinessOf, readinessOfBlocked } from './readiness.ts';

export interface FactsTools {
  readonly client: GithubClient;
  readonly protection: Protection;
}

/** GitHub does not answer more pull requests with all block reasons in time. */
const DETAILED_AT_ONCE = 20;

export async function findPullRequest(
  tools: FactsTools,
  { repository, number }: { readonly repository: ForgeRepository; readonly number: PrNumber },
): Promise<PullRequestFacts | undefined> {
  return (await findPullRequests(tools, repository, [number])).get(number);
}

/** Block reasons are queried only for blocked nodes without a cached answer. Most polls need no further query. */
export async function factsOfNodes(
  tools: FactsTools & { readonly blocked: BlockedMemory },
  repository: ForgeRepository,
  nodes: readonly PullRequestNode[],
): Promise<ReadonlyMap<PrNumber, PullRequestFacts>> {
  const facts = new Map<PrNumber, PullRequestFacts>();
  const blocked: PullRequestNode[] = [];
  for (const node of nodes) {
    tools.client.keepPullRequestId(repository, node);
    const readiness = readinessOf(node);
    if (readiness === undefined) blocked.push(node);
    else facts.set(node.number, factsOf(node, readiness));
  }
  const ask = (numbers: readonly PrNumber[]) => findPullRequests(tools, repository, numbers);
  return new Map([...facts, ...(await tools.blocked.read(repository.id, blocked, ask))]);
}

export async function findPullRequests(
  tools: FactsTools,
  repository: ForgeRepository,
  numbers: readonly PrNumber[],
): Promise<ReadonlyMap<PrNumber, PullRequestFacts>> {
  const askable = numbers.filter(isAskable);
  const facts = new Map<PrNumber, PullRequestFacts>();
  for (const some of chunksOf(askable, DETAILED_AT_ONCE)) {
    const details = await inHalves(some, (part) => askDetails(tools, repository, part));
    const checks = await readHeadChecks(tools, repository, details);
    for (const [index, node] of details.entries()) {
      facts.set(node.number, await factsWith(tools, repository, node, checks[index]));
    }
  }
  return facts;
}

async function askDetails(
  { client }: FactsTools,
  repository: ForgeRepository,
  numbers: readonly PrNumber[],
): Promise<readonly PullRequestDetails[]> {
  const fields = numbers.map((number) => `p${number}: pullRequest(number: ${number}) { ${detailsText(number)} }`);
  const { data } = await client.graphql<{ readonly repository: Readonly<Record<string, PullRequestDetails | null>> }>({
    repository,
    query: `query ReadPullRequests($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { ${fields.join('\n')} } }`,
    urgency: 'read',
  });
  return numbers.flatMap((number) => data.repository[`p${number}`] ?? []);
}

export async function factsOfDetails(
  tools: FactsTools,
  repository: ForgeRepository,
  node: PullRequestDetails,
): Promise<PullRequestFacts> {
  const [checks] = await readHeadChecks(tools, repository, [node]);
  return factsWith(tools, repository, node, checks);
}

async function factsWith(
  { client, protection }: FactsTools,
  repository: ForgeRepository,
  node: PullRequestDetails,
  checks = NO_CONTEXTS,
): Promise<PullRequestFacts> {
  client.keepPullRequestId(repository, node);
  const known = readinessOf(node);
  const targetHead = findContainedTarget(node);
  const upToDate = targetHead === undefined ? undefined : upToDateOf(node, targetHead, checks);
  if (known !== undefined) return { ...factsOf(node, known), ...present({ upToDate }) };
  const { login } = await client.installation(repository);
  const judge = (rules: BranchRules | undefined) =>
    readinessOfBlocked(node, {
      ...checks,
      hasOpenThreads: hasOpenThread(node.reviewThreads),
      isUpToDate: upToDate !== undefined,
      ownLogin: login,
      rules,
    });
  const first = judge(undefined);
  // The rules cost another query, so they are read only when nothing else explains the block.
  const readiness = first.blockReasons.includes('other')
    ? judge(await protection.readRules(repository, node.baseRefName))
    : first;
  return { ...factsOf(node, readiness), ...present({ upToDate }) };
}

export function factsOf(node: PullRequestNode, readiness: Readiness): PullRequestFacts {
  const { mergeability, blockReasons, failingChecks, awaitedChecks } = readiness;
  const isForeign = node.isCrossRepository || node.headRepository === null;
  const mergeTitle = mergeTitleIn(node.body);
  const dependsOn = dependenciesIn(node.body, node);
  return {
    number: node.number,
    headSha: node.headRefOid,
    baseBranch: node.baseRefName,
    title: printable(node.title),
    // GitHub shows the author of a deleted account as "ghost" too.
    author: loginOf(node.author),
    url: node.url,
    status: statusOf(node),
    mergeability,
    blockReasons,
    failingChecks,
    awaitedChecks,
    isHeadUntrusted: isForeign,
    ...(!isForeign && { headBranch: node.headRefName }),
    ...present({ mergeTitle }),
    ...(dependsOn.length > 0 && { dependsOn }),
  };
}

function statusOf({ state, isDraft }: PullRequestNode): PullRequestFacts['status'] {
  if (state === 'MERGED') return 'merged';
  if (state === 'CLOSED') return 'closed';
  return isDraft ? 'draft' : 'open';
}

function headOf(node: PullRequestDetails) {
  const commit = node.head.nodes?.[0]?.commit;
  return commit?.oid === node.headRefOid ? commit : undefined;
}

/** Only the heads whose checks the caller needs. */
function readHeadChecks(
  { client }: FactsTools,
  repository: ForgeRepository,
  nodes: readonly PullRequestDetails[],
): Promise<readonly Contexts[]> {
  const heads = nodes.map((node) => {
    const isWanted = readinessOf(node) === undefined || findContainedTarget(node) !== undefined;
    const first = isWanted ? headOf(node)?.statusCheckRollup : undefined;
    return { sha: node.headRefOid, first, required: isRequiredText(node.number) };
  });
  return readContexts(client, repository, heads);
}

/** The head of the target branch, when the pull request contains it. */
function findContainedTarget(node: PullRequestDetails): Sha | undefined {
  const targetHead = node.baseRef?.target?.oid;
  if (node.state !== 'OPEN' || targetHead === undefined) return undefined;
  const parents = (node.recent.nodes ?? []).flatMap((recent) => recent?.commit.parents.nodes ?? []);
  return parents.some((parent) => parent?.oid === targetHead) ? targetHead : undefined;
}

function upToDateOf(node: PullRequestDetails, targetHead: Sha, checks: Contexts): UpToDate | undefined {
  const head = headOf(node);
  if (head === undefined) return undefined;
  // An unread page may contain a failure, so no check counts as passed.
  const reports = checks.isWhole ? reportsOf(checks.contexts) : [];
  return { targetHead, tree: head.tree.oid, passedChecks: reports.filter(hasPassed).map(passedCheck) };
}

function passedCheck({ name, reporter, reporterId }: PassedCheck): PassedCheck {
  return { name, ...present({ reporter, reporterId }) };
}

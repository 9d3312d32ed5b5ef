import type { PrNumber, PullRequestFacts, UpToDate } from '../../engine/model/pull-request.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import type { Timing } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import { present } from '../../lib/present.ts';
import type { Sha } from '../../lib/sha.ts';
import { dependenciesIn } from '../candidate/depends-on.ts';
import { isPullRequestNumber, printable } from '../candidate/pull-request-ref.ts';
import type { ForgeRepository } from '../forge.ts';
import { mergeTitleIn } from '../hosted/forge-text.ts';
import { notReady, type Readiness } from '../hosted/readiness.ts';
import { hashOf, type TreeEntry } from '../hosted/tree-hash.ts';
import type { GitlabClient, ProjectName } from './api/client.ts';
import type { MergeRequestData } from './api/data.ts';
import { PIPELINE, PIPELINES } from './checks.ts';
import { readinessBy } from './merge-status.ts';

export interface GitlabTools {
  readonly client: GitlabClient;
  readonly clock: Timing;
  /** Trees of heads, which never change. */
  readonly trees: BoundedCache<Sha, Sha>;
}

const MAX_TREES = 2_000;
const MAX_TREE_PAGES = 10;

export function createTrees(): GitlabTools['trees'] {
  return new BoundedCache(MAX_TREES);
}

export async function findRequest(
  client: GitlabClient,
  repository: ProjectName,
  number: PrNumber,
  query: Readonly<Record<string, string>> = {},
): Promise<MergeRequestData | undefined> {
  if (!isPullRequestNumber(number)) return undefined;
  return client.find<MergeRequestData>({ repository, path: `/merge_requests/${number}`, query });
}

/** In any state, in one request. */
export async function listRequests(
  client: GitlabClient,
  repository: ProjectName,
  numbers: readonly PrNumber[],
  { isUrgent = false } = {},
): Promise<ReadonlyMap<PrNumber, MergeRequestData>> {
  const found: MergeRequestData[] = [];
  const known = numbers.filter(isPullRequestNumber);
  for (let from = 0; from < known.length; from += 50) {
    const some = known.slice(from, from + 50).map((number) => `iids[]=${number}`);
    const path = `/merge_requests?${some.join('&')}&per_page=50&with_merge_status_recheck=true`;
    found.push(...(await client.request<readonly MergeRequestData[]>({ repository, path, isUrgent })).data);
  }
  return new Map(found.map((request) => [request.iid, request]));
}

export async function findPullRequest(
  tools: GitlabTools,
  { repository, number }: { readonly repository: ForgeRepository; readonly number: PrNumber },
): Promise<PullRequestFacts | undefined> {
  const query = { include_diverged_commits_count: 'true' };
  const request = await findRequest(tools.client, repository, number, query);
  if (request === undefined) return undefined;
  return { ...factsOf(request), ...present({ upToDate: await findUpToDate(tools, repository, request) }) };
}

/** `unchecked` ones are checked because they are asked for, and are told by the next question. */
export async function findPullRequests(
  { client }: GitlabTools,
  repository: ForgeRepository,
  numbers: readonly PrNumber[],
): Promise<ReadonlyMap<PrNumber, PullRequestFacts>> {
  const listed = await listRequests(client, repository, numbers);
  return new Map([...listed].map(([number, request]) => [number, factsOf(request)]));
}

export function factsOf(request: MergeRequestData): PullRequestFacts {
  const { iid, sha, title, description, web_url: url } = request;
  if (sha === null) throw new Fault('FORGE_UNAVAILABLE', `GitLab has not prepared !${iid} yet.`);
  const isForeign = isFork(request);
  const mergeTitle = mergeTitleIn(description ?? '');
  const dependsOn = dependenciesIn(description ?? '', { url });
  return {
    number: iid,
    headSha: sha,
    baseBranch: request.target_branch,
    title: printable(title),
    author: request.author?.username ?? 'ghost',
    url,
    status: statusOf(request),
    ...readinessOf(request),
    isHeadUntrusted: isForeign,
    ...(!isForeign && { headBranch: request.source_branch }),
    ...present({ mergeTitle }),
    ...(dependsOn.length > 0 && { dependsOn }),
  };
}

/** A head whose branch or fork is gone counts as foreign too. */
export function isFork({ source_project_id: source, target_project_id: target }: MergeRequestData): boolean {
  return source !== target;
}

export function statusOf({ state, draft }: MergeRequestData): PullRequestFacts['status'] {
  if (state === 'merged' || state === 'closed') return state;
  return draft === true ? 'draft' : 'open';
}

function readinessOf(request: MergeRequestData): Readiness {
  const status = statusOf(request);
  if (status === 'merged' || status === 'closed') return notReady('closed');
  return status === 'draft' ? notReady('draft') : readinessBy(request.detailed_merge_status);
}

/** Of the head alone its pipeline proves something. */
// SPEC G189
async function findUpToDate(
  { client, trees }: GitlabTools,
  repository: ForgeRepository,
  request: MergeRequestData,
): Promise<UpToDate | undefined> {
  const { sha, head_pipeline: pipeline, diverged_commits_count: behind } = request;
  if (request.state !== 'opened' || behind !== 0 || sha === null || pipeline?.status !== 'success') return undefined;
  const isOfHead = pipeline.sha === sha && pipeline.project_id === request.target_project_id;
  if (!isOfHead || !['push', 'merge_request_event'].includes(pipeline.source ?? '')) return undefined;
  const [target, tree] = await Promise.all([
    findHead(client, repository, request.target_branch),
    trees.find(sha) ?? readTree(client, repository, sha),
  ]);
  if (target === undefined || tree === undefined) return undefined;
  trees.set(sha, tree);
  return { targetHead: target, tree, passedChecks: [{ name: PIPELINE, reporter: PIPELINES }] };
}

export async function findHead(
  client: GitlabClient,
  repository: ProjectName,
  branch: string,
): Promise<Sha | undefined> {
  const path = `/repository/branches/${encodeURIComponent(branch)}`;
  return (await client.find<{ readonly commit: { readonly id: Sha } }>({ repository, path }))?.commit.id;
}

/** GitLab tells no trees of commits, and lists the root folder. */
async function readTree(client: GitlabClient, repository: ForgeRepository, sha: Sha): Promise<Sha | undefined> {
  const asked = { repository, path: '/repository/tree', query: { ref: sha } };
  const entries: { readonly id: string; readonly path: string; readonly mode: string }[] = [];
  for (let page = 1; page <= MAX_TREE_PAGES; page += 1) {
    const found = await client.readPage<(typeof entries)[number]>(asked, page);
    entries.push(...found.items);
    if (!found.next) return hashOf(entries.map(({ id, path, mode }): TreeEntry => ({ sha: id, path, mode })));
  }
  return undefined;
}

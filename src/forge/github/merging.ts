import type { PrNumber } from '../../engine/model/pull-request.ts';
import { bound } from '../../lib/bound.ts';
import type { Timing } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import type { MergeAnswer, MergeState } from '../candidate/land-one-by-one.ts';
import type { CandidateEntry, LandRequest } from '../forge.ts';
import { type HostedMerging, METHODS, type OpenState } from '../hosted/adapter.ts';
import { limitedUntil } from './api/budget.ts';
import type { GithubClient, RestAnswer } from './api/client.ts';
import { messageIn } from './api/exchange.ts';

interface MergingParts {
  readonly client: Pick<GithubClient, 'request' | 'graphql' | 'installation'>;
  readonly clock: Timing;
}

/** Git shows a merge at once. The margin allows for clock skew. */
const SETTLED_MS = 5 * 60_000;

export function createMerging(parts: MergingParts): HostedMerging {
  return bound(parts, { findOpenStates, merge, findMergeState });
}

async function findOpenStates(
  { client }: MergingParts,
  { repository, entries }: LandRequest,
): Promise<ReadonlyMap<PrNumber, OpenState>> {
  const parts = entries.map(({ prNumber }) => `p${prNumber}: pullRequest(number: ${prNumber}) { state baseRefName }`);
  const { data } = await client.graphql<{ readonly repository: Readonly<Record<string, OpenFacts | null>> }>({
    repository,
    query: `query OpenPullRequests($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { ${parts.join(' ')} } }`,
    urgency: 'land',
  });
  const states = new Map<PrNumber, OpenState>();
  for (const { prNumber } of entries) {
    const facts = data.repository[`p${prNumber}`];
    if (facts === null || facts === undefined) continue;
    const state = facts.state === 'OPEN' ? 'open' : facts.state === 'MERGED' ? 'merged' : 'closed';
    states.set(prNumber, { state, baseBranch: facts.baseRefName });
  }
  return states;
}

interface OpenFacts {
  readonly state: string;
  readonly baseRefName: string;
}

// SPEC G147
async function merge(
  { client, clock }: MergingParts,
  request: LandRequest,
  entry: CandidateEntry,
): Promise<MergeAnswer> {
  const { repository, mergeMethod } = request;
  const { prNumber, headSha, mergeTitle } = entry;
  const title = mergeTitle === undefined || mergeMethod === 'REBASE' ? {} : { commit_title: mergeTitle };
  try {
    const answer = await client.request({
      repository,
      route: 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge',
      parameters: { pull_number: prNumber, sha: headSha, merge_method: METHODS[mergeMethod], ...title },
      urgency: 'land',
      accept: 'any',
    });
    return readMergeAnswer(answer);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'FORGE_UNAVAILABLE') throw error;
    const until = limitedUntil(error);
    if (until === undefined)
      return { kind: 'unclear', reason: 'GITHUB_API_REPEATED_SERVER_ERRORS', detail: error.detail };
    return { kind: 'limited', waitMs: Math.max(1_000, until - clock.now()), detail: error.detail };
  }
}

interface PullRequestData {
  readonly state: string;
  readonly merged?: boolean;
  readonly merged_at?: string | null;
  readonly merged_by?: { readonly login: string } | null;
  readonly merge_commit_sha?: string | null;
  readonly head: { readonly sha: string };
  readonly base: { readonly ref: string };
}

async function findMergeState(
  parts: MergingParts,
  { repository, targetBranch }: LandRequest,
  prNumber: PrNumber,
): Promise<MergeState> {
  const { status, data } = await parts.client.request<PullRequestData>({
    repository,
    route: 'GET /repos/{owner}/{repo}/pulls/{pull_number}',
    parameters: { pull_number: prNumber },
    urgency: 'land',
    accept: [404],
  });
  // A merge into another branch counts as closed here.
  if (status === 404 || data.base.ref !== targetBranch) return { kind: 'closed' };
  if (data.merged === true) return readMerged(parts, repository, data);
  return data.state === 'open' ? { kind: 'open', headSha: data.head.sha as Sha } : { kind: 'closed' };
}

async function readMerged(
  { client, clock }: MergingParts,
  repository: LandRequest['repository'],
  { merged_at, merged_by, merge_commit_sha }: PullRequestData,
): Promise<MergeState> {
  const { login } = await client.installation(repository);
  return {
    kind: 'merged',
    sha: (merge_commit_sha ?? undefined) as Sha | undefined,
    isOurs: merged_by === null || merged_by === undefined || bareLogin(merged_by.login) === bareLogin(login),
    // A merge time that cannot be parsed counts as old, so that nothing waits for it forever.
    isSettled: !(Date.parse(merged_at ?? '') > clock.now() - SETTLED_MS),
  };
}

/** Apps act as `name[bot]`. */
function bareLogin(login: string): string {
  return login.toLowerCase().replace(/\[bot\]$/, '');
}

/** Right after a merge, GitHub often has not computed yet that the next pull request is mergeable. */
const TRIES_OF_NOT_MERGEABLE = 4;
const LIMIT_MS = 60_000;
const PROTECTION =
  /protected branch|rule violation|required status|status checks?\b.*\b(?:expected|required|failing|pending)|approving review|review.*required|changes? (?:have been |were )?requested|code owner|not authorized to (?:push|merge)|verified signature|must be signed|conversation|merge queue|linear history|out[- ]of[- ]date|not up to date|deployment|branch is locked/i;

/** Interprets GitHub's answer to a merge. Most reasons are only in the message. */
// SPEC G150, G151
export function readMergeAnswer({ status, data, headers }: RestAnswer<unknown>): MergeAnswer {
  const detail = messageIn(data) || `GitHub answered ${status}.`;
  if (status === 200) return readSuccess(data);
  if (status >= 500) return { kind: 'unclear', reason: 'GITHUB_API_REPEATED_SERVER_ERRORS', detail };
  if (status === 429 || (status === 403 && /rate limit|abuse detection/i.test(detail))) {
    return { kind: 'limited', waitMs: waitOf(headers), detail };
  }
  // No pull request can be merged now, so this one is not to blame.
  if (status === 401 || (status === 403 && /suspended/i.test(detail)) || status < 400) {
    throw new Fault('FORGE_UNAVAILABLE', `GitHub does not take merges now (${status}): ${detail}`);
  }
  if (status === 405) return readNotAllowed(detail);
  if (status === 409) return { kind: 'head_moved', detail };
  return refused(detail);
}

function readSuccess(data: unknown): MergeAnswer {
  const { sha, merged } = (data ?? {}) as { readonly sha?: unknown; readonly merged?: unknown };
  if (merged === true && typeof sha === 'string' && /^[0-9a-f]{40,64}$/.test(sha)) {
    return { kind: 'merged', sha: sha as Sha };
  }
  const detail = messageIn(data) || 'GitHub did not say what it merged.';
  return { kind: 'unclear', reason: 'GITHUB_API_MERGE_PR_FAILED', detail };
}

/** GitHub answers 405 to almost every refusal. */
function readNotAllowed(detail: string): MergeAnswer {
  if (/in progress/i.test(detail)) {
    return { kind: 'unclear', reason: 'GITHUB_API_MERGE_ALREADY_IN_PROGRESS', detail };
  }
  const reason = 'GITHUB_API_MERGE_PR_FAILED';
  if (/base branch was modified/i.test(detail)) return { kind: 'unclear', reason, detail };
  if (/^pull request is not mergeable\.?$/i.test(detail)) {
    return { kind: 'unclear', reason, detail, tries: TRIES_OF_NOT_MERGEABLE };
  }
  return refused(detail);
}

function refused(detail: string): MergeAnswer {
  const reason = PROTECTION.test(detail) ? 'GITHUB_API_BRANCH_PROTECTION_UNMET' : 'GITHUB_API_MERGE_PR_FAILED';
  return { kind: 'refused', reason, detail };
}

function waitOf(headers: RestAnswer<unknown>['headers']): number {
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : LIMIT_MS;
}

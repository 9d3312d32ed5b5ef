import type { PrNumber } from '../../engine/model/pull-request.ts';
import { bound } from '../../lib/bound.ts';
import { Fault } from '../../lib/fault.ts';
import type { MergeAnswer, MergeState } from '../candidate/land-one-by-one.ts';
import type { CandidateEntry, LandRequest } from '../forge.ts';
import { type HostedMerging, METHODS, type OpenState } from '../hosted/adapter.ts';
import type { Answer } from '../hosted/exchange.ts';
import { bareText } from '../hosted/forge-text.ts';
import type { PullData } from './api/data.ts';
import { messageIn } from './api/unavailable.ts';
import { type FactsTools, findPull, listRecent } from './facts.ts';
import type { LandedPulls } from './landed-pulls.ts';

interface MergingParts extends FactsTools {
  readonly landed: LandedPulls;
}

/** Git shows a merge at once. The margin allows for clock skew. */
const SETTLED_MS = 5 * 60_000;

export function createMerging(parts: MergingParts): HostedMerging {
  return bound(parts, { findOpenStates, merge, findMergeState });
}

async function findOpenStates(
  parts: MergingParts,
  { repository, entries }: LandRequest,
): Promise<ReadonlyMap<PrNumber, OpenState>> {
  const { client, landed } = parts;
  const listed = await listRecent(parts, repository);
  const read = ({ prNumber }: CandidateEntry) => listed.get(prNumber) ?? findPull(client, repository, prNumber, true);
  const pulls = await Promise.all(entries.map(read));
  return new Map(
    pulls.flatMap((pull) => {
      if (pull === undefined) return [];
      landed.keep(repository, pull);
      const state = pull.merged === true ? 'merged' : pull.state;
      return [[pull.number, { state, baseBranch: pull.base.ref }] as const];
    }),
  );
}

// SPEC G147
async function merge(parts: MergingParts, request: LandRequest, entry: CandidateEntry): Promise<MergeAnswer> {
  const { repository, mergeMethod } = request;
  const { prNumber, headSha, mergeTitle } = entry;
  try {
    const answer = await parts.client.request<unknown>({
      repository,
      method: 'POST',
      path: `/pulls/${prNumber}/merge`,
      body: {
        Do: METHODS[mergeMethod],
        head_commit_id: headSha,
        ...(mergeTitle !== undefined && mergeMethod !== 'REBASE' && { MergeTitleField: mergeTitle }),
      },
      accept: 'any',
      isUrgent: true,
    });
    return answer.status === 200 ? await readBack(parts, request, prNumber) : readMergeAnswer(answer);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'FORGE_UNAVAILABLE') throw error;
    return { kind: 'unclear', reason: 'GITHUB_API_REPEATED_SERVER_ERRORS', detail: error.detail };
  }
}

/** Gitea answers a merge with nothing. */
async function readBack(parts: MergingParts, request: LandRequest, prNumber: PrNumber): Promise<MergeAnswer> {
  const state = await findMergeState(parts, request, prNumber);
  if (state.kind === 'merged' && state.sha !== undefined) return { kind: 'merged', sha: state.sha };
  return { kind: 'unclear', reason: 'GITHUB_API_MERGE_PR_FAILED', detail: 'Gitea did not say what it merged.' };
}

async function findMergeState(
  { client, clock }: MergingParts,
  { repository, targetBranch }: LandRequest,
  prNumber: PrNumber,
): Promise<MergeState> {
  const pull = await findPull(client, repository, prNumber, true);
  // A merge into another branch counts as closed here.
  if (pull === undefined || pull.base.ref !== targetBranch) return { kind: 'closed' };
  if (pull.merged !== true)
    return pull.state === 'open' ? { kind: 'open', headSha: pull.head.sha } : { kind: 'closed' };
  const own = await client.readOwn();
  return {
    kind: 'merged',
    sha: pull.merge_commit_sha ?? undefined,
    isOurs: isUnknown(pull) || pull.merged_by?.id === own.id,
    isSettled: !(Date.parse(pull.merged_at ?? '') > clock.now() - SETTLED_MS),
  };
}

function isUnknown({ merged_by }: PullData): boolean {
  return merged_by === null || merged_by === undefined || merged_by.id <= 0;
}

/** Each is an open requirement of the branch's protection. */
const PROTECTION =
  /required status checks|enough approvals|requested changes|review requests|behind the base branch|protected files|protected branch|not allowed to (?:push|merge)|PushRejected|User not allowed/i;

/** Interprets a refused merge. Most reasons are only in the message. */
// SPEC G166
export function readMergeAnswer({ status, data }: Pick<Answer<unknown>, 'status' | 'data'>): MergeAnswer {
  const detail = bareText(messageIn(data)) || `Gitea answered ${status}.`;
  if (status >= 500 || status === 429) return { kind: 'unclear', reason: 'GITHUB_API_REPEATED_SERVER_ERRORS', detail };
  // No pull request can be merged now, so this one is not to blame.
  if (status === 401 || status < 400) {
    throw new Fault('FORGE_UNAVAILABLE', `Gitea does not take merges now (${status}): ${detail}`);
  }
  if (status === 409 && /head out of date/i.test(detail)) return { kind: 'head_moved', detail };
  // Gitea says so for a minute while it computes, and also for a conflict.
  const isAgain = /try again later|already merged|push out of date/i.test(detail);
  if (isAgain) return { kind: 'unclear', reason: 'GITHUB_API_MERGE_PR_FAILED', detail };
  const reason = PROTECTION.test(detail) ? 'GITHUB_API_BRANCH_PROTECTION_UNMET' : 'GITHUB_API_MERGE_PR_FAILED';
  return { kind: 'refused', reason, detail };
}

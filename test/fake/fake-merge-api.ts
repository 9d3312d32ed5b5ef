import type { PrNumber } from '../../src/engine/model/pull-request.ts';
import type { LineStep, MergeAnswer, MergeApi, MergeState } from '../../src/forge/candidate/land-one-by-one.ts';
import type { CandidateEntry, LandRequest } from '../../src/forge/forge.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { applyEntry, type Landed, type LandingPlan, planLanding } from './fake-candidates.ts';
import type { FakeRepository } from './fake-repository.ts';

/** Faults of a merge. */
export interface MergeHooks {
  /** Runs before the merge. It may change something, answer instead, or throw. */
  readonly before?: (request: LandRequest, entry: CandidateEntry) => MergeAnswer | undefined;
  /** Runs after the merge. It may replace the answer or throw. */
  readonly after?: (request: LandRequest, entry: CandidateEntry) => MergeAnswer | undefined;
}

/** A merge API over a repository in memory, with its git side. No call waits. */
export function createMergeApi(repository: FakeRepository, request: LandRequest, hooks: MergeHooks): MergeApi {
  const { git } = repository;
  return {
    plan: async () => planLanding(git, request),
    readTarget: async () => repository.findHead(request.targetBranch),
    isAncestor: async ({ ancestor, descendant }) => git.isAncestor(ancestor, descendant),
    findCommit: async (sha) => git.findCommit(sha),
    listLine: async (range) => listLine(repository, range),
    merge: async (entry) => hooks.before?.(request, entry) ?? merge(repository, request, entry, hooks),
    findState: async (prNumber) => stateOf(repository, request, prNumber),
    wait: async () => undefined,
  };
}

function listLine(
  { git }: FakeRepository,
  { since, head }: { readonly since: Sha; readonly head: Sha },
): readonly LineStep[] | undefined {
  if (since === head) return [];
  if (!git.isAncestor(since, head)) return undefined;
  const line = git.listFirstParents(head, since);
  return line[0]?.parents[0] === since ? line : undefined;
}

function stateOf(repository: FakeRepository, { targetBranch }: LandRequest, number: PrNumber): MergeState {
  const pr = repository.findPullRequest(number);
  if (pr === undefined || pr.base !== targetBranch) return { kind: 'closed' };
  if (pr.status === 'merged') {
    return { kind: 'merged', sha: pr.mergedSha, isOurs: pr.mergedSha !== undefined, isSettled: true };
  }
  return pr.status === 'closed' ? { kind: 'closed' } : { kind: 'open', headSha: repository.getPullRequestHead(number) };
}

function merge(
  repository: FakeRepository,
  request: LandRequest,
  entry: CandidateEntry,
  hooks: MergeHooks,
): MergeAnswer {
  const { git } = repository;
  const { targetBranch } = request;
  const { prNumber, headSha } = entry;
  const target = repository.findHead(targetBranch);
  const pr = repository.findPullRequest(prNumber);
  if (target === undefined || pr?.status !== 'open' || pr.base !== targetBranch) return refuse('It is not open.');
  if (repository.getPullRequestHead(prNumber) !== headSha) return { kind: 'head_moved', detail: 'Head was modified.' };
  // It knows of nothing below the pull request.
  const { below: _, ...alone } = entry;
  const commit = applyEntry(git, { ...request, candidateId: 'made by the forge' }, git.getCommit(target), alone);
  if (commit === undefined) return refuse('It conflicts.');
  const { sha, tree } = commit;
  const plan = planLanding(git, request);
  const how = kindOf(repository, request, { plan, prNumber, from: target, tree });
  const answer: Landed = { kind: 'landed', how, pushedSha: sha, pushedTree: tree, entries: [{ prNumber, sha, tree }] };
  repository.moveBranch(targetBranch, sha, {
    request: { ...request, expectedHead: target, entries: [entry] },
    answer,
    whole: request,
  });
  repository.recordMerge(prNumber, sha);
  return hooks.after?.(request, entry) ?? { kind: 'merged', sha };
}

interface Made {
  readonly plan: LandingPlan;
  readonly prNumber: PrNumber;
  readonly from: Sha;
  readonly tree: Sha;
}

/** How this single move relates to the tested commit. */
function kindOf(repository: FakeRepository, request: LandRequest, { plan, prNumber, from, tree }: Made): Landed['how'] {
  const index = request.entries.findIndex((entry) => entry.prNumber === prNumber);
  const before = request.entries[index - 1];
  const at = before === undefined ? request.expectedHead : repository.findPullRequest(before.prNumber)?.mergedSha;
  if (plan.kind !== 'landed' || from !== at || plan.entries[index]?.tree !== tree) return 'UNPROVEN';
  if (index < request.entries.length - 1) return 'PREFIX';
  return plan.how === 'IDENTICAL' ? 'SAME_TREE' : plan.how;
}

function refuse(detail: string): MergeAnswer {
  return { kind: 'refused', reason: 'GITHUB_API_MERGE_PR_FAILED', detail };
}

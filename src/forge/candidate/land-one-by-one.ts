import type { PrNumber } from '../../engine/model/pull-request.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import type { CandidateEntry, LandAnswer, LandingProblem, LandingStop, LandRequest } from '../forge.ts';
import type { LandingPlan } from './plan-landing.ts';

/**
 * A merge API guards the head of the pull request but not the head of the target branch. So the branch is read back
 * after each merge, and must have the predicted tree on exactly the previous head. An answer alone proves nothing:
 * before a retry, and before an entry fails, the branch and the pull request are read again.
 */
// SPEC L9
export async function landOneByOne(api: MergeApi, request: LandRequest): Promise<LandAnswer> {
  const { expectedHead, entries } = request;
  const head = await api.readTarget();
  if (head === expectedHead && request.isCalledOff) return { kind: 'called_off' };
  const moved = await describeMove(api, expectedHead, head);
  if (head !== expectedHead && !moved.isDescendant) return moved;
  const plan = await api.plan();
  if (plan.kind !== 'landed') return head === expectedHead ? plan : moved;
  const landed: LineStep[] = [];
  for (const [index, entry] of entries.entries()) {
    const predicted = plan.entries[index]?.tree as Sha;
    const at = landed.at(-1)?.sha ?? expectedHead;
    const next = await landNext({ api, request, entry, predicted, at });
    if (next.kind !== 'landed') return conclude(api, request, { landed, stopped: next });
    landed.push(next.step);
  }
  return answerComplete(plan, request, landed);
}

export interface MergeApi {
  /** Predicts the commits. The plan depends on the request alone. */
  plan(): Promise<LandingPlan>;
  /** Reads the head now. Undefined when the branch is gone. */
  readTarget(): Promise<Sha | undefined>;
  isAncestor(pair: { readonly ancestor: Sha; readonly descendant: Sha }): Promise<boolean>;
  /** Searches the commits of the last `readTarget`. */
  findCommit(sha: Sha): Promise<LineStep | undefined>;
  /** First parents after `since`, oldest first. Undefined when the line of `head` does not contain `since`. */
  listLine(range: { readonly since: Sha; readonly head: Sha }): Promise<readonly LineStep[] | undefined>;
  merge(entry: CandidateEntry): Promise<MergeAnswer>;
  findState(prNumber: PrNumber): Promise<MergeState>;
  wait(ms: number): Promise<void>;
}

export interface LineStep {
  readonly sha: Sha;
  readonly tree: Sha;
  readonly parents: readonly Sha[];
}

export type MergeAnswer =
  | { readonly kind: 'merged'; readonly sha: Sha }
  /** The forge says that the pull request has another head. */
  | { readonly kind: 'head_moved'; readonly detail: string }
  /** A retry would be refused again. */
  | { readonly kind: 'refused'; readonly reason: LandingProblem; readonly detail: string }
  /** The merge may or may not have happened, or the forge asks for a retry. `tries` lowers the number of attempts. */
  | { readonly kind: 'unclear'; readonly reason: LandingProblem; readonly detail: string; readonly tries?: number }
  /** The rate limit stopped the request before it was processed. */
  | { readonly kind: 'limited'; readonly waitMs: number; readonly detail: string };

export type MergeState = Merged | { readonly kind: 'open'; readonly headSha: Sha } | { readonly kind: 'closed' };

export interface Merged {
  readonly kind: 'merged';
  /** The commit that the merge put on the target branch. Undefined when the forge does not say. */
  readonly sha: Sha | undefined;
  /** False when a person or another app merged it. */
  readonly isOurs: boolean;
  /** True when the merge is so old that git must show it by now. */
  readonly isSettled: boolean;
}

const MAX_TRIES = 10;
/** With these waits, ten tries take about a minute. */
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 8_000;
/** GitHub refills a rate limit within an hour. */
const MAX_LIMITED_MS = 65 * 60_000;
/** Git and the pull request show a merge up to some seconds late. */
const LAG_TRIES = 5;
const LAG_MS = 1_000;

interface Attempt {
  readonly api: MergeApi;
  readonly request: LandRequest;
  readonly entry: CandidateEntry;
  /** The tree that the target branch must have after the merge. */
  readonly predicted: Sha;
  /** The head that the target branch must have before the merge. */
  readonly at: Sha;
}

type Stop = LandingStop | { readonly kind: 'called_off' };
type Next = { readonly kind: 'landed'; readonly step: LineStep } | Stop;
type Unclear = Extract<MergeAnswer, { kind: 'unclear' }>;

async function landNext(attempt: Attempt): Promise<Next> {
  const { api } = attempt;
  let tries = 0;
  let limitedMs = 0;
  for (;;) {
    const found = await findOnBranch(attempt);
    if (found !== undefined) return found;
    // An earlier try may still take effect, so the entry can only be cancelled before the first one.
    if (tries === 0 && !(await isWanted(attempt.request))) return { kind: 'called_off' };
    const answer = await ask(attempt);
    if (answer.kind === 'merged') return verify(attempt, { ...answer, isOurs: true, isSettled: false });
    if (answer.kind === 'refused') return giveUp(attempt, answer);
    if (answer.kind === 'limited') {
      limitedMs += answer.waitMs;
      const reason = 'GITHUB_API_RATE_LIMIT_EXCEEDED';
      if (limitedMs > MAX_LIMITED_MS) return giveUp(attempt, { reason, detail: answer.detail });
      await api.wait(answer.waitMs);
      continue;
    }
    if (answer.kind === 'pull_request_moved') return answer;
    tries += 1;
    if (tries >= (answer.tries ?? MAX_TRIES)) return giveUp(attempt, answer);
    await api.wait(Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1)));
  }
}

type Asked = Exclude<MergeAnswer, { kind: 'head_moved' }> | Extract<LandingStop, { kind: 'pull_request_moved' }>;

/** A moved head counts only once the pull request shows another head. Until then the merge is retried. */
// SPEC G23
async function ask({ api, entry }: Attempt): Promise<Asked> {
  const answer = await api.merge(entry);
  if (answer.kind !== 'head_moved') return answer;
  const state = await api.findState(entry.prNumber);
  if (state.kind === 'open' && state.headSha !== entry.headSha) {
    return { kind: 'pull_request_moved', prNumber: entry.prNumber };
  }
  return { kind: 'unclear', reason: 'GITHUB_API_MERGE_PR_FAILED', detail: answer.detail } satisfies Unclear;
}

async function isWanted({ isCalledOff, isStillWanted }: LandRequest): Promise<boolean> {
  return !isCalledOff && ((await isStillWanted?.()) ?? true);
}

/** Finds out whether the entry is on the target branch already. Undefined when the branch has not moved. */
// SPEC G149
async function findOnBranch(attempt: Attempt): Promise<Next | undefined> {
  const { api, entry, at } = attempt;
  const head = await api.readTarget();
  if (head === at) return undefined;
  for (let tries = 0; ; tries += 1) {
    const state = await api.findState(entry.prNumber);
    if (state.kind === 'merged') return verify(attempt, state);
    const line = head === undefined ? undefined : await api.listLine({ since: at, head });
    // Right after a merge the pull request may not be shown as merged yet.
    const isPredicted = line?.some((_, index) => isAsPredicted(attempt, line.slice(0, index + 1))) ?? false;
    if (isPredicted && tries < LAG_TRIES) {
      await api.wait(LAG_MS);
      continue;
    }
    // The pull request is closed and its predicted commits are on the branch, so it counts as merged.
    if (!isPredicted || state.kind !== 'closed') return describeMove(api, at, head);
    return verify(attempt, { kind: 'merged', sha: undefined, isOurs: true, isSettled: true });
  }
}

/** The forge says that the entry is merged. Git tells whether the target branch has the predicted tree. */
// SPEC G148
async function verify(attempt: Attempt, { sha: said, isOurs, isSettled }: Merged): Promise<Next> {
  const { api, entry, at } = attempt;
  const { prNumber } = entry;
  for (let tries = 0; ; tries += 1) {
    const head = await api.readTarget();
    const line = head === undefined ? undefined : await api.listLine({ since: at, head });
    const part = line && findPart(attempt, line, said);
    const step = part?.at(-1);
    // A merge by a person is a push past the queue.
    if (!isOurs && head !== at) return describeMove(api, at, head);
    if (part !== undefined && step !== undefined && head !== undefined) {
      if (isAsPredicted(attempt, part)) return { kind: 'landed', step };
      return { kind: 'strayed', prNumber, sha: step.sha, tree: step.tree, head, isDescendant: true };
    }
    if (tries < LAG_TRIES) {
      await api.wait(LAG_MS);
      continue;
    }
    if (!isOurs) {
      // A person merged it, and the branch moved earlier or never shows it. The entry ends the same way in both cases.
      const detail = 'It was merged by somebody else.';
      return { kind: 'refused', prNumber, reason: 'MANUAL_MERGE', detail };
    }
    const elsewhere = await findElsewhere(attempt, said, head);
    if (elsewhere !== undefined) return elsewhere;
    if (head !== at) return describeMove(api, at, head);
    const detail = `It is merged as ${said ?? 'an unknown commit'}, which is not on its target.`;
    if (isSettled) return { kind: 'refused', prNumber, reason: 'GITHUB_API_MERGE_PR_FAILED', detail };
    // The answer is unknown so far. The effect retries later.
    throw new Fault('FORGE_UNAVAILABLE', `#${prNumber} is merged, but its target did not move yet.`);
  }
}

/** Covers a target branch that was force-pushed meanwhile and then received the merge. */
async function findElsewhere({ api, entry, at }: Attempt, said: Sha | undefined, head: Sha | undefined) {
  const commit = said === undefined ? undefined : await api.findCommit(said);
  if (commit === undefined || head === undefined) return undefined;
  const { sha, tree } = commit;
  if (!(await api.isAncestor({ ancestor: sha, descendant: head }))) return undefined;
  const isDescendant = await api.isAncestor({ ancestor: at, descendant: head });
  return { kind: 'strayed', prNumber: entry.prNumber, sha, tree, head, isDescendant } as const;
}

/** The commits up to the one the forge names. Without a name: up to the first that matches the prediction, or all. */
function findPart(attempt: Attempt, line: readonly LineStep[], said: Sha | undefined): readonly LineStep[] | undefined {
  if (line.length === 0) return undefined;
  if (said !== undefined) {
    const index = line.findIndex(({ sha }) => sha === said);
    return index < 0 ? undefined : line.slice(0, index + 1);
  }
  const index = line.findIndex((_, last) => isAsPredicted(attempt, line.slice(0, last + 1)));
  return index < 0 ? line : line.slice(0, index + 1);
}

/** Only this entry's. A forge may drop or rewrite commits in a rebase: there only the last tree counts. */
function isAsPredicted({ request, entry, predicted }: Attempt, part: readonly LineStep[]): boolean {
  const last = part.at(-1);
  if (last?.tree !== predicted) return false;
  switch (request.mergeMethod) {
    case 'MERGE_COMMIT':
      return part.length === 1 && last.parents.length === 2 && last.parents[1] === entry.headSha;
    case 'SQUASH':
      return part.length === 1 && last.parents.length === 1;
    case 'REBASE':
      return part.every(({ parents }) => parents.length === 1);
  }
}

/** Before an entry fails, one last read makes sure that it was not merged after all. */
// SPEC G22
async function giveUp(
  attempt: Attempt,
  no: { readonly reason: LandingProblem; readonly detail: string },
): Promise<Next> {
  const { api, entry } = attempt;
  const { prNumber, headSha } = entry;
  const found = await findOnBranch(attempt);
  if (found !== undefined) return found;
  const state = await api.findState(prNumber);
  if (state.kind === 'merged') return verify(attempt, state);
  if (state.kind === 'open' && state.headSha !== headSha) return { kind: 'pull_request_moved', prNumber };
  return { kind: 'refused', prNumber, reason: no.reason, detail: no.detail };
}

// SPEC G21
async function describeMove(api: MergeApi, from: Sha, head: Sha | undefined) {
  const isDescendant = head !== undefined && (await api.isAncestor({ ancestor: from, descendant: head }));
  return { kind: 'target_moved', head, isDescendant } as const;
}

/** Every entry landed. The last commit has the tested tree; the commits before it are prefixes of it. */
function answerComplete(
  plan: Extract<LandingPlan, { kind: 'landed' }>,
  request: LandRequest,
  landed: readonly LineStep[],
): LandAnswer {
  const { sha, tree } = landed.at(-1) as LineStep;
  const how = plan.how === 'IDENTICAL' ? 'SAME_TREE' : plan.how;
  return { kind: 'landed', how, pushedSha: sha, pushedTree: tree, entries: entriesOf(request, landed) };
}

interface Progress {
  readonly landed: readonly LineStep[];
  readonly stopped: Stop;
}

// SPEC L21
async function conclude(api: MergeApi, request: LandRequest, { landed, stopped }: Progress): Promise<LandAnswer> {
  const last = landed.at(-1);
  if (last === undefined && stopped.kind !== 'strayed') return stopped;
  const { sha, tree } = last ?? ((await api.findCommit(request.expectedHead)) as LineStep);
  return {
    kind: 'landed',
    how: 'PREFIX',
    pushedSha: sha,
    pushedTree: tree,
    entries: entriesOf(request, landed),
    ...(stopped.kind === 'called_off' ? {} : { stopped }),
  };
}

function entriesOf({ entries }: LandRequest, landed: readonly LineStep[]) {
  return landed.map(({ sha, tree }, index) => ({
    prNumber: entries[index]?.prNumber as PrNumber,
    sha,
    tree,
    ...(index === entries.length - 1 ? {} : { kind: 'PREFIX' as const }),
  }));
}

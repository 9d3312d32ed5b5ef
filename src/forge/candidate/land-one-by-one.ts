import type { PrNumber } from '../../engine/pull-request.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import type { CandidateEntry, LandAnswer, LandingProblem, LandingStop, LandRequest } from '../forge.ts';
import type { LandingPlan } from './plan-landing.ts';

/**
 * Lands a candidate by a merge API, one pull request after the other. Such an API knows the pull request's expected head
 * and nothing of the target's: what it made is read back after each, and must be the tree that was predicted, on exactly
 * the head before it. An answer is never believed to be the whole truth: before anything is tried again, or called
 * failed, the target and the pull request are asked. So nothing is merged twice, and what an earlier attempt did before
 * its answer got lost is found.
 */
export async function landOneByOne(desk: MergeDesk, request: LandRequest): Promise<LandAnswer> {
  const { expectedHead, entries } = request;
  const head = await desk.readTarget();
  if (head === expectedHead && request.isCalledOff) return { kind: 'called_off' };
  const moved = await describeMove(desk, expectedHead, head);
  if (head !== expectedHead && !moved.isDescendant) return moved;
  const plan = await desk.plan();
  if (plan.kind !== 'landed') return head === expectedHead ? plan : moved;
  const landed: LineStep[] = [];
  for (const [index, entry] of entries.entries()) {
    const predicted = plan.entries[index]?.tree as Sha;
    const at = landed.at(-1)?.sha ?? expectedHead;
    const next = await landNext({ desk, request, entry, predicted, at });
    if (next.kind !== 'landed') return conclude(desk, request, { landed, stopped: next });
    landed.push(next.step);
  }
  return whole(plan, request, landed);
}

/** What a forge with a merge API is asked, and what is seen of its target. */
export interface MergeDesk {
  /** What the commits will be like. It depends on the request alone. */
  plan(): Promise<LandingPlan>;
  /** The target's head, read now; undefined where the branch is gone. */
  readTarget(): Promise<Sha | undefined>;
  isAncestor(pair: { readonly ancestor: Sha; readonly descendant: Sha }): Promise<boolean>;
  /** Of what was read last; undefined where nobody has it. */
  findCommit(sha: Sha): Promise<LineStep | undefined>;
  /** First parents after `since`, oldest first; undefined where the line of `head` does not lead there. */
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
  /** The forge says that its head is another one. */
  | { readonly kind: 'head_moved'; readonly detail: string }
  /** A no that does not change by itself. */
  | { readonly kind: 'refused'; readonly reason: LandingProblem; readonly detail: string }
  /** Nobody knows whether it was done or will be, or the forge asks to come again. `tries` where fewer are enough. */
  | { readonly kind: 'unclear'; readonly reason: LandingProblem; readonly detail: string; readonly tries?: number }
  /** It was not looked at, and will not be for so long. */
  | { readonly kind: 'limited'; readonly waitMs: number; readonly detail: string };

export type MergeState = Merged | { readonly kind: 'open'; readonly headSha: Sha } | { readonly kind: 'closed' };

export interface Merged {
  readonly kind: 'merged';
  /** The commit that the target was moved to; undefined where the forge does not say. */
  readonly sha: Sha | undefined;
  /** Not by somebody else. */
  readonly isOurs: boolean;
  /** So long ago that git must show it. */
  readonly isSettled: boolean;
}

const MAX_TRIES = 10;
/** Ten tries take about a minute. */
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 8_000;
/** A limit of the forge lasts for an hour at most. */
const MAX_LIMITED_MS = 65 * 60_000;
/** What was merged shows in git, and on the pull request, a moment later. */
const LAG_TRIES = 5;
const LAG_MS = 1_000;

interface Way {
  readonly desk: MergeDesk;
  readonly request: LandRequest;
  readonly entry: CandidateEntry;
  /** The tree that the target must have afterwards. */
  readonly predicted: Sha;
  /** Where the target must be before. */
  readonly at: Sha;
}

type Stop = LandingStop | { readonly kind: 'called_off' };
type Next = { readonly kind: 'landed'; readonly step: LineStep } | Stop;
type Unclear = Extract<MergeAnswer, { kind: 'unclear' }>;

async function landNext(way: Way): Promise<Next> {
  const { desk } = way;
  let tries = 0;
  let limitedMs = 0;
  for (;;) {
    const found = await lookForIt(way);
    if (found !== undefined) return found;
    // After a try that nobody knows the end of, only its end counts.
    if (tries === 0 && !(await isWanted(way.request))) return { kind: 'called_off' };
    const answer = await ask(way);
    if (answer.kind === 'merged') return verify(way, { ...answer, isOurs: true, isSettled: false });
    if (answer.kind === 'refused') return giveUp(way, answer);
    if (answer.kind === 'limited') {
      limitedMs += answer.waitMs;
      const reason = 'GITHUB_API_RATE_LIMIT_EXCEEDED';
      if (limitedMs > MAX_LIMITED_MS) return giveUp(way, { reason, detail: answer.detail });
      await desk.wait(answer.waitMs);
      continue;
    }
    if (answer.kind === 'pull_request_moved') return answer;
    tries += 1;
    if (tries >= (answer.tries ?? MAX_TRIES)) return giveUp(way, answer);
    await desk.wait(Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1)));
  }
}

type Asked = Exclude<MergeAnswer, { kind: 'head_moved' }> | Extract<LandingStop, { kind: 'pull_request_moved' }>;

/** A head that moved is believed only when it can be seen. */
async function ask({ desk, entry }: Way): Promise<Asked> {
  const answer = await desk.merge(entry);
  if (answer.kind !== 'head_moved') return answer;
  const state = await desk.findState(entry.prNumber);
  if (state.kind === 'open' && state.headSha !== entry.headSha) {
    return { kind: 'pull_request_moved', prNumber: entry.prNumber };
  }
  return { kind: 'unclear', reason: 'GITHUB_API_MERGE_PR_FAILED', detail: answer.detail } satisfies Unclear;
}

async function isWanted({ isCalledOff, isStillWanted }: LandRequest): Promise<boolean> {
  return !isCalledOff && ((await isStillWanted?.()) ?? true);
}

/** What the target says: undefined while it is where the entry is to be put. */
async function lookForIt(way: Way): Promise<Next | undefined> {
  const { desk, entry, at } = way;
  const head = await desk.readTarget();
  if (head === at) return undefined;
  for (let tries = 0; ; tries += 1) {
    const state = await desk.findState(entry.prNumber);
    if (state.kind === 'merged') return verify(way, state);
    const line = head === undefined ? undefined : await desk.listLine({ since: at, head });
    // It may have been merged so shortly ago that the pull request does not say so yet.
    const isLikeIt = line?.some((_, index) => isAsPredicted(way, line.slice(0, index + 1))) ?? false;
    if (isLikeIt && tries < LAG_TRIES) {
      await desk.wait(LAG_MS);
      continue;
    }
    // Of a pull request that is closed and has come to the target, nobody can say any more that it was not merged.
    if (!isLikeIt || state.kind !== 'closed') return describeMove(desk, at, head);
    return verify(way, { kind: 'merged', sha: undefined, isOurs: true, isSettled: true });
  }
}

/** The forge has merged it: whether the target is what was predicted is read from git. */
async function verify(way: Way, { sha: said, isOurs, isSettled }: Merged): Promise<Next> {
  const { desk, entry, at } = way;
  const { prNumber } = entry;
  for (let tries = 0; ; tries += 1) {
    const head = await desk.readTarget();
    const line = head === undefined ? undefined : await desk.listLine({ since: at, head });
    const part = line && findPart(way, line, said);
    const step = part?.at(-1);
    // Whoever merges it past the queue has pushed to the target.
    if (!isOurs && head !== at) return describeMove(desk, at, head);
    if (part !== undefined && step !== undefined && head !== undefined) {
      if (isAsPredicted(way, part)) return { kind: 'landed', step };
      return { kind: 'strayed', prNumber, sha: step.sha, tree: step.tree, head, isDescendant: true };
    }
    if (tries < LAG_TRIES) {
      await desk.wait(LAG_MS);
      continue;
    }
    if (!isOurs) {
      // The target was known with it, or does not show it: what becomes of this entry does not depend on that.
      const detail = 'It was merged by somebody else.';
      return { kind: 'refused', prNumber, reason: 'MANUAL_MERGE', detail };
    }
    const elsewhere = await findElsewhere(way, said, head);
    if (elsewhere !== undefined) return elsewhere;
    if (head !== at) return describeMove(desk, at, head);
    const detail = `It is merged as ${said ?? 'an unknown commit'}, which is not on its target.`;
    if (isSettled) return { kind: 'refused', prNumber, reason: 'GITHUB_API_MERGE_PR_FAILED', detail };
    // Whether it has landed cannot be said yet, and must not be guessed.
    throw new Fault('FORGE_UNAVAILABLE', `#${prNumber} is merged, but its target did not move yet.`);
  }
}

/** The target was rewritten in between, and the entry was merged into what is there now. */
async function findElsewhere({ desk, entry, at }: Way, said: Sha | undefined, head: Sha | undefined) {
  const commit = said === undefined ? undefined : await desk.findCommit(said);
  if (commit === undefined || head === undefined) return undefined;
  const { sha, tree } = commit;
  if (!(await desk.isAncestor({ ancestor: sha, descendant: head }))) return undefined;
  const isDescendant = await desk.isAncestor({ ancestor: at, descendant: head });
  return { kind: 'strayed', prNumber: entry.prNumber, sha, tree, head, isDescendant } as const;
}

/** The commits up to the one the forge names; where it names none, up to the first that is as predicted, or all. */
function findPart(way: Way, line: readonly LineStep[], said: Sha | undefined): readonly LineStep[] | undefined {
  if (line.length === 0) return undefined;
  if (said !== undefined) {
    const index = line.findIndex(({ sha }) => sha === said);
    return index < 0 ? undefined : line.slice(0, index + 1);
  }
  const index = line.findIndex((_, last) => isAsPredicted(way, line.slice(0, last + 1)));
  return index < 0 ? line : line.slice(0, index + 1);
}

/**
 * The commits are this entry's and nothing else. How a forge rebases is its own affair, and which commits it leaves out:
 * there it is the last tree that counts.
 */
function isAsPredicted({ request, entry, predicted }: Way, part: readonly LineStep[]): boolean {
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

/** The last look before an entry is called failed: it must not have been merged after all. */
async function giveUp(way: Way, no: { readonly reason: LandingProblem; readonly detail: string }): Promise<Next> {
  const { desk, entry } = way;
  const { prNumber, headSha } = entry;
  const found = await lookForIt(way);
  if (found !== undefined) return found;
  const state = await desk.findState(prNumber);
  if (state.kind === 'merged') return verify(way, state);
  if (state.kind === 'open' && state.headSha !== headSha) return { kind: 'pull_request_moved', prNumber };
  return { kind: 'refused', prNumber, reason: no.reason, detail: no.detail };
}

async function describeMove(desk: MergeDesk, from: Sha, head: Sha | undefined) {
  const isDescendant = head !== undefined && (await desk.isAncestor({ ancestor: from, descendant: head }));
  return { kind: 'target_moved', head, isDescendant } as const;
}

/** All of them: the last is what was tested, those before it are parts of that. */
function whole(
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

async function conclude(desk: MergeDesk, request: LandRequest, { landed, stopped }: Progress): Promise<LandAnswer> {
  const last = landed.at(-1);
  if (last === undefined && stopped.kind !== 'strayed') return stopped;
  const { sha, tree } = last ?? ((await desk.findCommit(request.expectedHead)) as LineStep);
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

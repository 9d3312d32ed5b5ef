import { createHash } from 'node:crypto';
import { DEFAULT_PRIORITY } from '../../engine/model/priority.ts';
import type { PrNumber, PullRequestFacts } from '../../engine/model/pull-request.ts';
import { ALL_TARGETS, type ImpactedTargets, MAX_TARGETS, TOO_MANY_TARGETS } from '../../engine/model/targets.ts';
import { formatInstant, type Instant } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import { present } from '../../lib/present.ts';
import type { Sha } from '../../lib/sha.ts';
import { shortSha } from '../../words/phrases.ts';
import type { ForkProofs } from '../access/fork-proofs.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type EntryRef, findQueue, queueNotFound, runEvent } from '../core/find-queue.ts';
import type { RunResult } from '../core/queue-host.ts';
import { type Answer, isRefusal, type Refusal, refuseField } from '../core/refusal.ts';
import { type EntryView, viewEntry, viewTargets } from './entry-view.ts';
import { findAnyEntry } from './find-entry.ts';
import { findPullRequest, findTargets } from './forge-facts.ts';
import { pullRequestNotFound } from './submit-pull-request.ts';

interface SetImpactedTargets extends EntryRef {
  /** Undefined: the present head. */
  readonly sha: Sha | undefined;
  readonly impactedTargets: readonly string[] | 'ALL';
}

// SPEC T5
export async function setImpactedTargets(
  app: App,
  caller: Caller,
  input: SetImpactedTargets,
  from?: 'fork',
): Answer<EntryView> {
  const found = await findQueue(app, caller, input);
  if (isRefusal(found)) return found;
  // An upload that names the commit needs nothing from the forge, so that it succeeds while the forge is away.
  // SPEC T3
  const pr = await findPullRequest(app, found, input.prNumber).catch((error: unknown) => {
    if (input.sha !== undefined && error instanceof Fault && error.code === 'FORGE_UNAVAILABLE') return undefined;
    throw error;
  });
  const sha = input.sha ?? pr?.headSha;
  if (sha === undefined) return pullRequestNotFound(input);
  const targets = { ...toImpactedTargets(input.impactedTargets), ...(from === undefined ? {} : { from }) };
  const at = app.clock.now();
  const { prNumber } = input;
  const result = await runEvent(app, found, () => ({
    kind: 'impacted_targets_set',
    at,
    actor: caller.name,
    prNumber,
    sha,
    targets,
  }));
  if (isRefusal(result)) return result;
  const entry = await findAnyEntry(app, { ...found, queue: result.queue }, prNumber);
  const head = pr?.headSha ?? entry?.pr.headSha;
  const note = noteOf({ ...result, sha, head, prNumber });
  if (entry !== undefined) return { ...viewEntry(found.id, result.queue, entry), ...present({ note }) };
  // Targets uploaded with a token have precedence, and are returned to the fork.
  const kept = from === undefined ? undefined : await findTargets(app, found.id, { prNumber, sha });
  return { ...viewUnsubmitted({ prNumber, sha, targets: kept ?? targets, pr, at }), ...present({ note }) };
}

interface SetTargets extends Pick<RunResult, 'queue' | 'outcome'> {
  readonly prNumber: PrNumber;
  readonly sha: Sha;
  /** Undefined: not known. */
  readonly head: Sha | undefined;
}

/** The targets are stored, but change nothing now. */
function noteOf({ queue, outcome, prNumber, sha, head }: SetTargets): string | undefined {
  if (outcome.kind === 'ignored') return `Nothing changed. ${outcome.detail}`;
  if (head !== undefined && head !== sha)
    return `The targets are for ${shortSha(sha)}. Pull request #${prNumber} is at ${shortSha(head)}, for which they do not count.`;
  return queue.settings.mode === 'PARALLEL' ? undefined : 'The queue is not parallel: it uses no targets.';
}

/** Needs no token: the workflow run proves which pull request it is for. */
export async function setImpactedTargetsOfFork(
  app: App,
  { runId, proofs }: { readonly runId: string; readonly proofs: ForkProofs },
  input: SetImpactedTargets,
): Answer<EntryView> {
  const { sha } = input;
  if (sha === undefined) {
    return refuseField('/pr/sha', 'is required without a token: it is compared with the commit of the workflow run');
  }
  const callers = await proofs.prove({ repo: input.repo, runId, prNumber: input.prNumber, sha });
  if (isRefusal(callers)) return callers;
  let answer: EntryView | Refusal = queueNotFound(input);
  // Each organization that has this repository has a queue of its own.
  for (const caller of callers) {
    const next = await setImpactedTargets(app, caller, input, 'fork');
    if (isRefusal(answer)) answer = next;
  }
  return answer;
}

// SPEC T2
function toImpactedTargets(given: readonly string[] | 'ALL'): ImpactedTargets {
  if (given === 'ALL') return ALL_TARGETS;
  return listTargets(given);
}

export function listTargets(given: readonly string[]): ImpactedTargets {
  if (given.length > MAX_TARGETS) return TOO_MANY_TARGETS;
  const targets = [...new Set(given)].sort();
  const hash = createHash('sha256');
  // A target cannot contain NUL, so two different lists never hash the same bytes.
  for (const target of targets) hash.update(target).update('\0');
  return { kind: 'list', digest: hash.digest('hex'), count: targets.length, targets };
}

// SPEC T4
function viewUnsubmitted(of: {
  readonly prNumber: PrNumber;
  readonly sha: Sha;
  readonly targets: ImpactedTargets;
  readonly pr: PullRequestFacts | undefined;
  readonly at: Instant;
}): EntryView {
  return {
    stateChangedAt: formatInstant(of.at),
    priorityValue: DEFAULT_PRIORITY.value,
    priorityName: DEFAULT_PRIORITY.name,
    skipTheLine: false,
    noBatch: false,
    prNumber: of.prNumber,
    prTitle: of.pr?.title ?? '',
    prSha: of.sha,
    prBaseBranch: of.pr?.baseBranch ?? '',
    prAuthor: of.pr?.author ?? '',
    forceEnqueued: false,
    isCurrentlySubmittedToQueue: false,
    impactedTargets: viewTargets(of.targets),
    verifiedByTestRun: null,
  };
}

import type { ReplyOf } from '../../contract/operation.ts';
import type * as pullRequestsContract from '../../contract/pull-requests.ts';
import { foresee } from '../../engine/foresee.ts';
import type { PullRequestSubmitted } from '../../engine/model/event.ts';
import { parsePriority } from '../../engine/model/priority.ts';
import type { PrNumber, PullRequestFacts } from '../../engine/model/pull-request.ts';
import { findEntry, type Queue, type Submitter } from '../../engine/model/queue.ts';
import { type ImpactedTargets, isOutranked } from '../../engine/model/targets.ts';
import { present } from '../../lib/present.ts';
import type { Sha } from '../../lib/sha.ts';
import { foreseenText } from '../../words/foreseen.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { entryIdOf } from '../core/entry-id.ts';
import { type EntryRef, type FoundQueue, findQueue, formatRef, queueNotFound, runEvent } from '../core/find-queue.ts';
import type { RunResult } from '../core/queue-host.ts';
import { type Answer, isRefusal, type Refusal, refuse, refuseField } from '../core/refusal.ts';
import { requestPullRequestPoll } from '../core/request-poll.ts';
import { type EntryView, viewEntry } from './entry-view.ts';
import { findEndedEntry, hasLanded } from './find-entry.ts';
import { findPullRequest, findTargets, readTargetBranch } from './forge-facts.ts';
import { stopAbove, withBelow } from './read-below.ts';
import { refuseUnchanged } from './refuse-unchanged.ts';

interface SubmitPullRequest extends EntryRef {
  /** Undefined or null: unchanged, or the default for a new entry. */
  readonly priority?: string | number | null | undefined;
  readonly noBatch?: boolean | undefined;
  /** It repairs a red branch. Undefined: unchanged. */
  readonly repair?: boolean | undefined;
  /** The pull requests that it is based on are submitted too. */
  readonly submitStack?: boolean | undefined;
  /** A pull request that failed and is unchanged is refused, where the queue says so. */
  readonly refusesUnchanged?: boolean;
  /** The expected head. Undefined: any. */
  readonly sha?: Sha | undefined;
  /** The facts that were read together with a person's comment or label: they define the meant head. */
  readonly meant?: PullRequestFacts;
}

interface Submission {
  readonly found: FoundQueue;
  readonly pr: PullRequestFacts;
  readonly targets: ImpactedTargets | undefined;
  readonly wasLive: boolean;
  readonly eventFor: (queue: Queue) => PullRequestSubmitted;
}

/** Reads what a submission depends on, and refuses one that cannot be made. */
async function prepare(app: App, caller: Caller, input: SubmitPullRequest): Answer<Submission> {
  const given = input.priority ?? undefined;
  const priority = given === undefined ? undefined : parsePriority(given);
  if (given !== undefined && priority === undefined) {
    return refuseField('/priority', 'must be urgent, high, medium, low, or a number from 0 (first) to 255 (last)');
  }
  const found = await findQueue(app, caller, input);
  if (isRefusal(found)) return found;
  // The target branch of an empty queue is not polled: the first entry is tested on its present head.
  const [read] = await Promise.all([
    readFacts(app, found, input),
    found.queue.entries.size === 0 ? readTargetBranch(app, found) : undefined,
  ]);
  if (read === undefined) return pullRequestNotFound(input);
  const known = findEntry(found.queue, read.number);
  const pr = await withBelow(app, found, read, known, caller);
  if (pr.status !== 'open') return notEnqueueable(pr, input.targetBranch);
  // SPEC E16
  if (input.sha !== undefined && input.sha !== pr.headSha) {
    const sentence = `The head of pull request #${pr.number} is ${pr.headSha}, not ${input.sha}.`;
    return refuse('PULL_REQUEST_NOT_ENQUEUEABLE', `${sentence} Look at what it is now, and submit that.`);
  }
  const wasLive = known !== undefined;
  if (!wasLive && (await hasLanded(app, found, pr)))
    return notEnqueueable({ ...pr, status: 'merged', baseBranch: found.queue.branch }, found.queue.branch);
  const head = { prNumber: pr.number, sha: pr.headSha };
  // The engine keeps the targets of a known entry with the same head.
  const targets = known?.pr.headSha === head.sha ? undefined : await findTargets(app, found.id, head);
  const eventFor = (queue: Queue): PullRequestSubmitted => ({
    kind: 'pull_request_submitted',
    at: app.clock.now(),
    actor: caller.name,
    entryId: findEntry(queue, pr.number)?.id ?? entryIdOf(found.id, pr.number),
    pr,
    targets,
    priority,
    noBatch: input.noBatch,
    ...present({ repair: input.repair }),
    ...(caller.isPerson ? { by: 'person' as const } : {}),
    submitter: submitterOf(caller),
  });
  return { found, pr, targets, wasLive, eventFor };
}

/** A caller at the forge has no token. */
function submitterOf({ tokenId, name, isAgent }: Caller): Submitter {
  return { id: tokenId || name, name, ...present({ isAgent }) };
}

// SPEC O18
export async function previewSubmission(
  app: App,
  caller: Caller,
  input: SubmitPullRequest,
): Answer<ReplyOf<typeof pullRequestsContract.previewSubmission>> {
  const submission = await prepare(app, caller, input);
  if (isRefusal(submission)) return submission;
  const { found, pr, eventFor } = submission;
  // Reading the target branch may have changed the queue.
  const { queue } = (await app.queues.find(found.id)) ?? found;
  const foreseen = foresee(queue, eventFor(queue));
  const { outcome, entry, testedAgain, interrupted } = foreseen;
  if (outcome.kind === 'refused') return refuse(outcome.code, outcome.detail);
  return {
    prNumber: pr.number,
    ...present({ state: entry?.state }),
    interruptedRuns: interrupted.length,
    testedAgain: testedAgain.map(({ prNumber }) => prNumber),
    text: foreseenText(foreseen, app.clock.now()),
  };
}

export async function submitPullRequest(app: App, caller: Caller, input: SubmitPullRequest): Answer<EntryView> {
  if (input.submitStack !== true) return submitOne(app, caller, input);
  const below = await listBelow(app, caller, input);
  if (isRefusal(below)) return below;
  let answer = await submitOne(app, caller, input);
  // The lowest comes last: all are admitted with it, and tested by one run.
  for (const prNumber of below) {
    if (isRefusal(answer)) return answer;
    answer = await submitOne(app, caller, { ...queueOf(input), prNumber });
  }
  return isRefusal(answer) || below.length === 0 ? answer : viewNow(app, caller, input);
}

async function viewNow(app: App, caller: Caller, input: SubmitPullRequest): Answer<EntryView> {
  const found = await findQueue(app, caller, input);
  if (isRefusal(found)) return found;
  const entry = findEntry(found.queue, input.prNumber) ?? (await findEndedEntry(app, found, input.prNumber));
  return entry === undefined ? queueNotFound(input) : viewEntry(found.id, found.queue, entry);
}

const LONGEST_STACK = 100;

/** The pull requests that it is based on, the nearest first. All or nothing: each is looked at before the first one is submitted. */
// SPEC O44
async function listBelow(app: App, caller: Caller, input: SubmitPullRequest): Answer<readonly PrNumber[]> {
  const members: PrNumber[] = [];
  const open = [input.prNumber];
  for (let number = open.pop(); number !== undefined; number = open.pop()) {
    const member = number === input.prNumber ? input : { ...queueOf(input), prNumber: number };
    const submission = await prepare(app, caller, member);
    if (isRefusal(submission)) return submission;
    const { found, pr } = submission;
    for (const { number: below, by, isMerged } of pr.below ?? []) {
      const isNew = by === 'base' && isMerged !== true && findEntry(found.queue, below) === undefined;
      if (!isNew || members.includes(below) || below === input.prNumber) continue;
      if (members.length === LONGEST_STACK)
        return refuseField('/submitStack', `takes a stack of at most ${LONGEST_STACK} pull requests`);
      members.push(below);
      open.push(below);
    }
  }
  return members;
}

function queueOf({ repo, targetBranch }: SubmitPullRequest) {
  return { repo, targetBranch };
}

async function submitOne(app: App, caller: Caller, input: SubmitPullRequest): Answer<EntryView> {
  const submission = await prepare(app, caller, input);
  if (isRefusal(submission)) return submission;
  const { found, pr, targets, wasLive, eventFor } = submission;
  const unchanged = input.refusesUnchanged && !wasLive ? await refuseUnchanged(app, found, pr) : undefined;
  if (unchanged !== undefined) return unchanged;
  await stopAbove(app, found, pr);
  const hasLeft = (queue: Queue) => wasLive && findEntry(queue, pr.number) === undefined;
  const result = await runEvent(app, found, (queue) => (hasLeft(queue) ? undefined : eventFor(queue)));
  if (isRefusal(result)) return result;
  // The entry landed during the read.
  if (!result.isStored && hasLeft(result.queue)) return submitOne(app, caller, input);
  if (pr.mergeability === 'IN_PROGRESS') await requestPullRequestPoll(app, found.repository, pr.number);
  const isFinal = targets !== undefined && targets.from === undefined;
  const { queue } = isFinal ? result : await takeTargetsThatCameMeanwhile(app, caller, found, result, pr);
  const entry = findEntry(queue, pr.number);
  if (entry === undefined) return queueNotFound(input);
  const view = viewEntry(found.id, queue, entry);
  return result.outcome.kind === 'ignored' ? { ...view, note: `Nothing changed. ${result.outcome.detail}` } : view;
}

/** A forge may leave out of the meant facts what only a direct merge needs. */
async function readFacts(app: App, found: FoundQueue, { meant, prNumber }: SubmitPullRequest) {
  const { directMergeMode } = found.queue.settings;
  if (meant !== undefined && (directMergeMode === 'OFF' || meant.upToDate !== undefined)) return meant;
  const present = await findPullRequest(app, found, prNumber);
  return meant === undefined || present?.headSha === meant.headSha ? present : meant;
}

/** Targets stored between the read above and the submission would otherwise wait for the next upload. */
async function takeTargetsThatCameMeanwhile(
  app: App,
  caller: Caller,
  found: FoundQueue,
  result: RunResult,
  pr: PullRequestFacts,
): Promise<RunResult> {
  const known = findEntry(result.queue, pr.number)?.targets;
  const isOpen = known?.from !== undefined || known === undefined;
  if (result.queue.settings.mode !== 'PARALLEL' || !isOpen) return result;
  const targets = await findTargets(app, found.id, { prNumber: pr.number, sha: pr.headSha });
  if (targets === undefined || (known !== undefined && isOutranked(targets, known))) return result;
  const again = await runEvent(app, found, () => ({
    kind: 'impacted_targets_set',
    at: app.clock.now(),
    actor: caller.name,
    prNumber: pr.number,
    sha: pr.headSha,
    targets,
  }));
  return isRefusal(again) ? result : again;
}

export function pullRequestNotFound(input: EntryRef): Refusal {
  const { repo, prNumber } = input;
  const hint = repo.host === 'local' ? ` Push it with: git push origin HEAD:refs/pull/${prNumber}/head` : '';
  return refuse('PULL_REQUEST_NOT_FOUND', `There is no pull request #${prNumber} in ${formatRef(repo)}.${hint}`);
}

// SPEC E18
function notEnqueueable(pr: PullRequestFacts, targetBranch: string): Refusal {
  const reasons = {
    closed: 'is closed. Open it again first.',
    draft: 'is a draft. Mark it ready for review first.',
    merged:
      pr.baseBranch === targetBranch
        ? `is already merged into ${targetBranch}: there is nothing left to do.`
        : `was merged into ${pr.baseBranch} and not into ${targetBranch}. Open its change again for ${targetBranch}.`,
    open: 'cannot be queued.',
  } as const;
  return refuse('PULL_REQUEST_NOT_ENQUEUEABLE', `Pull request #${pr.number} ${reasons[pr.status]}`);
}

import { unreachable } from '../../lib/assert.ts';
import { isSame } from '../../lib/is-same.ts';
import { present } from '../../lib/present.ts';
import { askForLine, takeLine } from '../evidence/breakage.ts';
import { forgetRemoval } from '../evidence/suspicion.ts';
import { alignStack } from '../line/align-stack.ts';
import { retarget } from '../line/impact.ts';
import { findBreachAnywhere } from '../line/invariants.ts';
import { askEverybodyAgain, takeComputed, takeReview } from '../line/lanes.ts';
import { resumeProbes } from '../line/questions.ts';
import { removeEntry } from '../line/remove-entry.ts';
import { withMode } from '../model/entry-index.ts';
import type {
  ImpactedTargetsSet,
  LandingsCompared,
  PullRequestCancelled,
  PullRequestObserved,
  PullRequestSubmitted,
  QueueEvent,
  QueueUpdated,
  RemovedPullRequestObserved,
  TestsRestartRequested,
} from '../model/event.ts';
import { DEFAULT_PRIORITY } from '../model/priority.ts';
import {
  type Entry,
  findEntry,
  isAdmitted,
  isLanding,
  type ModeSwitch,
  NEW_ENTRY,
  type Queue,
} from '../model/queue.ts';
import { isReady, readinessOf } from '../model/readiness.ts';
import type { ReasonCode } from '../model/reason.ts';
import { candidatesOf } from '../model/roster.ts';
import { checkSettings } from '../model/settings.ts';
import { branchBelow, findCycle, needsOf, outOfLine } from '../model/stack.ts';
import { isOutranked } from '../model/targets.ts';
import {
  APPLIED,
  amend,
  entryOf,
  ignored,
  keep,
  type Move,
  move,
  type Outcome,
  refused,
  tell,
  tellAll,
  type Work,
} from '../model/work.ts';
import { evolveCandidate } from './evolve-candidate.ts';
import { evolveLanding } from './evolve-landing.ts';
import { observeTarget, takeTry } from './evolve-target.ts';
import { restartTests, resumeHeld } from './restart.ts';
import { reviewAll } from './review-required.ts';

/** Applies a fact to the state. plan.ts decides what to do next. */
// SPEC I4
export function evolve(work: Work, event: QueueEvent): Outcome {
  switch (event.kind) {
    case 'queue_updated':
      return updateQueue(work, event);
    case 'pull_request_submitted':
      return submit(work, event);
    case 'pull_request_cancelled':
      return cancel(work, event);
    case 'tests_restart_requested':
      return restart(work, event);
    case 'impacted_targets_set':
      return setTargets(work, event);
    case 'targets_computed':
      return takeComputed(work, event);
    case 'lanes_reviewed':
      return takeReview(work, event);
    case 'pull_request_observed':
      return observe(work, event);
    case 'removed_pull_request_observed':
      return readmit(work, event);
    case 'target_observed':
      return observeTarget(work, event);
    case 'head_tried':
      return takeTry(work, event);
    case 'landings_compared':
      return compareLandings(work, event);
    case 'line_read':
      return takeLine(work, event);
    case 'breakage_asked':
      return askForLine(work, event);
    case 'time_passed':
      return APPLIED;
    case 'candidate_built':
    case 'candidate_conflicted':
    case 'candidate_unbuildable':
    case 'check_reported':
    case 'check_judged':
    case 'required_reviewed':
    case 'checks_lost':
      return evolveCandidate(work, event);
    case 'landing_begun':
    case 'candidate_landed':
    case 'landing_refused':
      return evolveLanding(work, event);
    default:
      return unreachable(event);
  }
}

/** Only the records change. A pull request that was submitted again has another one by now. */
// SPEC N14
function compareLandings(work: Work, { entries }: LandingsCompared): Outcome {
  for (const entry of entries) {
    if (findEntry(work.queue, entry.prNumber) !== undefined) continue;
    work.ended.push(entry);
    tell(work, entry.prNumber);
  }
  return APPLIED;
}

// SPEC Q4, Q5, Q6
function updateQueue(work: Work, event: QueueUpdated): Outcome {
  const { queue } = work;
  const { modeSwitch } = queue;
  const isRefused = modeSwitch !== undefined && hasChanges(event);
  if (queue.parked !== undefined && event.state === 'RUNNING' && !isRefused) {
    const outcome = unpark(work);
    if (outcome.kind !== 'applied' || modeSwitch !== undefined) return outcome;
  }
  if (isRefused) {
    return refused(
      'MODE_CHANGE_IN_PROGRESS',
      `The queue is switching to ${modeSwitch.to} mode. Its settings can be changed once the pull requests in it have landed or left.`,
    );
  }
  if (modeSwitch !== undefined) return steerSwitch(work, modeSwitch, event);
  const [problem] = checkSettings(event.settings);
  if (problem !== undefined) return refused('VALIDATION_FAILED', `${problem.name} ${problem.message}.`);
  const { mode = queue.settings.mode, ...others } = event.settings;
  const state = event.state ?? (queue.state as Exclude<Queue['state'], 'SWITCHING_MODES'>);
  const isSwitch = mode !== queue.settings.mode;
  const isBusy = isSwitch && queue.index.admitted > 0;
  if (isSwitch && queue.entries.size > 0 && state === 'PAUSED') {
    return refused(
      'QUEUE_NOT_EMPTY',
      'A paused queue with pull requests in it cannot change its mode, because nothing would ever land. Resume or drain it first.',
    );
  }
  amend(work, { state, ...withChange(event), settings: { ...queue.settings, ...others } });
  if (state !== queue.state) tellAll(work);
  if (event.state === 'RUNNING' || isWayOut(queue, event)) resumeHeld(work, event.actor);
  const { requiredStatuses, failFastStatuses, probeStatuses } = event.settings;
  if (probeStatuses !== undefined) resumeProbes(work);
  if (requiredStatuses !== undefined || failFastStatuses !== undefined) reviewAll(work);
  if (isBusy) amend(work, { state: 'SWITCHING_MODES', modeSwitch: { to: mode, from: state } });
  else if (isSwitch) work.queue = withMode(work.queue, mode);
  return APPLIED;
}

/** A queue can be paused and resumed during a mode switch. The last request decides the state after the switch. */
// SPEC Q9
function steerSwitch(work: Work, modeSwitch: ModeSwitch, event: QueueUpdated): Outcome {
  const { state, actor } = event;
  if (state === undefined) return APPLIED;
  const isPaused = state === 'PAUSED';
  amend(work, {
    state: isPaused ? state : 'SWITCHING_MODES',
    ...withChange(event),
    modeSwitch: { ...modeSwitch, from: state },
  });
  if (state === 'RUNNING') resumeHeld(work, actor);
  return APPLIED;
}

// SPEC Q10
function withChange({ state, actor, at, reason, until }: QueueUpdated): Pick<Queue, 'stateChange'> | undefined {
  if (state === undefined) return undefined;
  return { stateChange: { by: actor, at, ...present({ reason, until: state === 'PAUSED' ? until : undefined }) } };
}

/** Required checks that are set on the queue need no readable configuration. */
// SPEC V43
function isWayOut({ hold }: Queue, { settings }: QueueUpdated): boolean {
  return hold?.cause.kind === 'configuration' && settings.requiredStatuses !== undefined;
}

function hasChanges({ settings }: QueueUpdated): boolean {
  return Object.keys(settings).length > 0;
}

/** An operator resumes a parked queue. The effects whose answer may have been dropped are requested again. */
// SPEC I2
function unpark(work: Work): Outcome {
  const breach = findBreachAnywhere(work.queue);
  if (breach !== undefined) return refused('VALIDATION_FAILED', `The queue stays parked: ${breach}.`);
  amend(work, { parked: undefined });
  askEverybodyAgain(work);
  const { landing } = work.queue;
  if (landing !== undefined) {
    const { candidate, expectedHead } = landing;
    work.effects.push({ kind: 'land_candidate', candidate, expectedHead });
  }
  for (const { number: candidate, state, sameTreeAs } of candidatesOf(work.queue)) {
    if (state === 'building') work.effects.push({ kind: 'build_candidate', candidate });
    else if (state === 'testing' && sameTreeAs === undefined) work.effects.push({ kind: 'start_checks', candidate });
  }
  return APPLIED;
}

// SPEC E1, E4, L25
function submit(work: Work, event: PullRequestSubmitted): Outcome {
  const { pr, actor } = event;
  const cycle = findCycle(work.queue, { prNumber: pr.number, pr });
  if (cycle !== undefined) {
    const way = cycle.map((number) => `#${number}`).join(' on ');
    return refused('VALIDATION_FAILED', `These pull requests depend on each other: ${way}. Take one dependency out.`);
  }
  const known = findEntry(work.queue, pr.number);
  if (known !== undefined && known.pr.headSha !== pr.headSha && isLanding(work.queue, known)) {
    return refused(
      'PULL_REQUEST_LANDING',
      `Pull request #${pr.number} is being landed at ${known.pr.headSha}, and was pushed to since. Submit it again when that has ended.`,
    );
  }
  if (known !== undefined) {
    const { priority = known.priority, noBatch = known.noBatch, repair: isRepair = known.isRepair } = event;
    // A new submission revokes the cancellation.
    const asked = { ...known, priority, noBatch, isRepair, removalAskedBy: undefined };
    if (event.targets === undefined && isSame(known, { ...asked, pr })) {
      return ignored(`Pull request #${pr.number} is in the queue exactly so.`);
    }
    keep(work, asked);
    alignStack(work, asked);
    observe(work, { kind: 'pull_request_observed', at: event.at, prNumber: pr.number, pr, targets: event.targets });
    // The pull request was pushed to while in the queue. Submitting it again means the new head, so a new stay begins.
    if (findEntry(work.queue, pr.number) !== undefined) return APPLIED;
  }
  const entry: Entry = {
    ...NEW_ENTRY,
    id: known?.id ?? event.entryId,
    prNumber: pr.number,
    state: 'NOT_READY',
    stateChangedAt: event.at,
    pr,
    priority: event.priority ?? known?.priority ?? DEFAULT_PRIORITY,
    noBatch: event.noBatch ?? known?.noBatch ?? false,
    isRepair: event.repair ?? known?.isRepair ?? false,
    submittedAt: event.at,
    unreadySince: event.at,
    submitter: event.submitter,
    submission: work.queue.submissions + 1,
    targets: event.targets,
  };
  forgetRemoval(work, pr.number);
  amend(work, { submissions: entry.submission });
  move(work, entry, { to: 'NOT_READY', reason: event.by === 'person' ? 'USER_REQUESTED' : 'API_REQUESTED', actor });
  alignStack(work, entry);
  return APPLIED;
}

// SPEC E6
function cancel(work: Work, event: PullRequestCancelled): Outcome {
  const entry = findEntry(work.queue, event.prNumber);
  if (entry === undefined) return notInQueue(event.prNumber);
  if (isLanding(work.queue, entry)) {
    // The push may have happened already, so the entry leaves only if it does not land.
    keep(work, { ...entry, removalAskedBy: event.actor });
    return APPLIED;
  }
  removeEntry(work, entry, { to: 'CANCELLED', reason: 'USER_REQUESTED', actor: event.actor });
  return APPLIED;
}

function restart(work: Work, event: TestsRestartRequested): Outcome {
  const entry = findEntry(work.queue, event.prNumber);
  if (entry === undefined) return notInQueue(event.prNumber);
  if (entry.state !== 'TESTING' && entry.state !== 'PENDING_FAILURE') {
    return refused(
      'TESTS_NOT_RESTARTABLE',
      `Pull request #${event.prNumber} is ${entry.state}. Tests can be restarted only while it is TESTING or PENDING_FAILURE.`,
    );
  }
  restartTests(work, entry, event);
  return APPLIED;
}

function setTargets(work: Work, event: ImpactedTargetsSet): Outcome {
  const entry = findEntry(work.queue, event.prNumber);
  // The store keeps targets for every head they name. The entry in the queue has another head.
  if (entry === undefined || entry.pr.headSha !== event.sha) return APPLIED;
  if (isOutranked(event.targets, entry.targets)) return ignored('Its targets were set with a token, and those count.');
  retarget(work, entry, event.targets);
  return APPLIED;
}

function observe(work: Work, event: PullRequestObserved): Outcome {
  const entry = findEntry(work.queue, event.prNumber);
  if (entry === undefined) return ignored(`Pull request #${event.prNumber} is not in the queue.`);
  if (isLanding(work.queue, entry)) return ignored(`Pull request #${event.prNumber} is being landed.`);
  const end = endOf(work.queue, entry, event);
  if (end !== undefined) {
    removeEntry(work, { ...entry, pr: event.pr ?? { ...entry.pr, status: 'closed' } }, end);
  } else if (event.pr !== undefined) {
    refresh(work, entry, event.pr, event.targets);
  }
  return APPLIED;
}

/** Returns an entry to its old place, because its failure was the fault of the branch, or of flaky tests. */
// SPEC V18, V79
function readmit(work: Work, { prNumber, submission, pr, targets }: RemovedPullRequestObserved): Outcome {
  const { returning } = work.queue;
  const removal = returning.find(({ entry }) => entry.submission === submission);
  if (removal === undefined) return ignored(`Pull request #${prNumber} was submitted again, or is back.`);
  amend(work, { returning: returning.filter((other) => other !== removal) });
  const { entry } = removal;
  const isUnchanged = pr?.status === 'open' && pr.headSha === entry.pr.headSha && pr.baseBranch === entry.pr.baseBranch;
  // A pull request that has changed since must be submitted again by its author. So must one on which others depend now.
  if (!isUnchanged || findCycle(work.queue, { prNumber, pr }) !== undefined) return APPLIED;
  const { checks } = removal.failure;
  const reason = 'tests' in removal ? 'FAILED_TESTS_FLAKY' : 'TARGET_BRANCH_AT_FAULT';
  const returned = { ...entry, pr, targets, wasTested: true };
  if (needsOf(returned).length === 0) move(work, returned, { to: 'PENDING', reason, checks });
  else move(work, outOfLine(returned, work.at), { to: 'NOT_READY', reason, checks });
  return APPLIED;
}

function refresh(work: Work, entry: Entry, read: Entry['pr'], targets: Entry['targets']): void {
  // Its base becomes the target branch shortly before those below it land, and it is on them until then.
  const { below: _below, dependsOn: _dependsOn, ...facts } = read;
  const isKept = isAdmitted(entry) || findCycle(work.queue, { prNumber: entry.prNumber, pr: read }) !== undefined;
  const { below, dependsOn } = entry.pr;
  const pr = isKept ? { ...facts, ...present({ below, dependsOn }) } : read;
  const isSameHead = pr.headSha === entry.pr.headSha;
  // Targets and a direct merge belong to one head commit. Those of an earlier head do not count.
  const isDirectMergeSpent = isSameHead && entry.isDirectMergeSpent;
  const fresh = isSameHead || entry.heldPlace === undefined ? entry : renewed(work, entry);
  const refreshed = { ...fresh, pr, targets: isSameHead ? entry.targets : undefined, isDirectMergeSpent };
  const wasReady = isReady(readinessOf(work.queue, entry));
  const since = wasReady && !isReady(readinessOf(work.queue, refreshed)) ? work.at : entry.unreadySince;
  keep(work, { ...refreshed, unreadySince: since });
  if (!isAdmitted(entry) && !isSameTrouble(entry.pr, pr)) tell(work, entry.prNumber);
  if (targets !== undefined) retarget(work, entryOf(work, entry.prNumber), targets);
}

/** It was in the line at another head. Results belong to submissions, so that the new head is a new one. */
// SPEC O35
function renewed(work: Work, entry: Entry): Entry {
  const submission = work.queue.submissions + 1;
  amend(work, { submissions: submission });
  const { because: _because, admission: _admission, heldPlace: _heldPlace, ...untested } = NEW_ENTRY;
  const { isRepair, raised, submitter } = entry;
  return { ...entry, ...untested, isRepair, raised, submitter, submission };
}

/** The page shows why an entry is not admitted, so that its author can act on it. */
function isSameTrouble(a: Entry['pr'], b: Entry['pr']): boolean {
  return (
    a.mergeability === b.mergeability &&
    a.baseBranch === b.baseBranch &&
    a.blockReasons.length === b.blockReasons.length &&
    a.blockReasons.every((reason) => b.blockReasons.includes(reason)) &&
    a.failingChecks?.join('\n') === b.failingChecks?.join('\n') &&
    a.blockDetail === b.blockDetail
  );
}

/** Whether the observed state ends the entry. The most specific reason comes first. */
// SPEC E8, E9, E10, E20
function endOf(queue: Queue, entry: Entry, { pr, landedAs }: PullRequestObserved): Move | undefined {
  if (landedAs !== undefined) return { to: 'MERGED', reason: 'MERGE_GRAPH_MERGE', landedAs };
  if (pr?.status === 'merged') {
    if (pr.baseBranch !== queue.branch) return cancelled('PR_MERGED_INTO_OTHER_BRANCH');
    return { to: 'MERGED', reason: 'MANUAL_MERGE' };
  }
  if (pr === undefined || pr.status === 'closed') return cancelled('PR_CLOSED');
  if (pr.status === 'draft') return cancelled('PR_CONVERTED_TO_DRAFT');
  const isPushed = pr.headSha !== entry.pr.headSha;
  // A submission is for the commit it saw. Only a push with write access may replace that commit.
  if (isPushed && (isAdmitted(entry) || pr.isHeadUntrusted === true)) return cancelled('PR_PUSHED_TO');
  if (!isAdmitted(entry)) return undefined;
  const bases = [queue.branch, entry.pr.baseBranch, branchBelow(queue, entry)];
  if (!bases.includes(pr.baseBranch)) return cancelled('PR_BASE_BRANCH_CHANGED');
  return undefined;
}

function cancelled(reason: ReasonCode): Move {
  return { to: 'CANCELLED', reason };
}

function notInQueue(prNumber: number): Outcome {
  return refused('PULL_REQUEST_NOT_IN_QUEUE', `Pull request #${prNumber} is not in the queue. Submit it first.`);
}

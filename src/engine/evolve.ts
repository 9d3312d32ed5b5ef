import { unreachable } from '../lib/assert.ts';
import type {
  ImpactedTargetsSet,
  PullRequestCancelled,
  PullRequestObserved,
  PullRequestSubmitted,
  QueueEvent,
  QueueUpdated,
  TestsRestartRequested,
} from './event.ts';
import { admittedInOrder } from './order.ts';
import { DEFAULT_PRIORITY } from './priority.ts';
import { type Entry, findEntry, isAdmitted, type Queue, withMode } from './queue.ts';
import type { ReasonCode } from './reason.ts';
import { checkSettings } from './settings.ts';
import { APPLIED, keep, type Move, move, type Outcome, refused, type Work } from './work.ts';

/** Folds a fact into the state. It makes no choice about what to do next: that is plan's. */
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
    case 'pull_request_observed':
      return observe(work, event);
    default:
      return unreachable(event);
  }
}

function updateQueue(work: Work, event: QueueUpdated): Outcome {
  const { queue } = work;
  if (queue.modeSwitch !== undefined) {
    return refused(
      'MODE_CHANGE_IN_PROGRESS',
      `The queue is switching to ${queue.modeSwitch.to} mode. Its settings can be changed once the pull requests in it have landed or left.`,
    );
  }
  const [problem] = checkSettings(event.settings);
  if (problem !== undefined) return refused('VALIDATION_FAILED', `${problem.name} ${problem.message}.`);
  const { mode = queue.settings.mode, ...others } = event.settings;
  const state = event.state ?? (queue.state as Exclude<Queue['state'], 'SWITCHING_MODES'>);
  const isSwitch = mode !== queue.settings.mode;
  const isBusy = isSwitch && admittedInOrder(queue).length > 0;
  if (isSwitch && queue.entries.size > 0 && state === 'PAUSED') {
    return refused(
      'QUEUE_NOT_EMPTY',
      'A paused queue with pull requests in it cannot change its mode, because nothing would ever land. Resume or drain it first.',
    );
  }
  work.queue = { ...queue, state, settings: { ...queue.settings, ...others } };
  if (isBusy) work.queue = { ...work.queue, state: 'SWITCHING_MODES', modeSwitch: { to: mode, from: state } };
  else if (isSwitch) work.queue = withMode(work.queue, mode);
  return APPLIED;
}

function submit(work: Work, event: PullRequestSubmitted): Outcome {
  const { pr, actor } = event;
  const known = findEntry(work.queue, pr.number);
  if (known !== undefined) {
    keep(work, { ...known, priority: event.priority ?? known.priority, noBatch: event.noBatch ?? known.noBatch });
    observe(work, { kind: 'pull_request_observed', at: event.at, prNumber: pr.number, pr, targets: event.targets });
    // Whoever submits a pull request that was pushed to while in the queue means the new head: a new cycle begins.
    if (findEntry(work.queue, pr.number) !== undefined) return APPLIED;
  }
  const entry: Entry = {
    id: known?.id ?? event.entryId,
    prNumber: pr.number,
    state: 'NOT_READY',
    stateChangedAt: event.at,
    pr,
    priority: event.priority ?? known?.priority ?? DEFAULT_PRIORITY,
    noBatch: event.noBatch ?? known?.noBatch ?? false,
    submittedAt: event.at,
    submission: work.queue.submissions + 1,
    admission: undefined,
    targets: event.targets,
  };
  work.queue = { ...work.queue, submissions: entry.submission };
  move(work, entry, { to: 'NOT_READY', reason: 'API_REQUESTED', actor });
  return APPLIED;
}

function cancel(work: Work, event: PullRequestCancelled): Outcome {
  const entry = findEntry(work.queue, event.prNumber);
  if (entry === undefined) return notInQueue(event.prNumber);
  move(work, entry, { to: 'CANCELLED', reason: 'USER_REQUESTED', actor: event.actor });
  return APPLIED;
}

function restart(work: Work, event: TestsRestartRequested): Outcome {
  const entry = findEntry(work.queue, event.prNumber);
  if (entry === undefined) return notInQueue(event.prNumber);
  return refused(
    'TESTS_NOT_RESTARTABLE',
    `Pull request #${event.prNumber} is ${entry.state}. Tests can be restarted only while it is TESTING or PENDING_FAILURE.`,
  );
}

function setTargets(work: Work, event: ImpactedTargetsSet): Outcome {
  const entry = findEntry(work.queue, event.prNumber);
  if (entry !== undefined && entry.pr.headSha === event.sha) keep(work, { ...entry, targets: event.targets });
  return APPLIED;
}

function observe(work: Work, event: PullRequestObserved): Outcome {
  const entry = findEntry(work.queue, event.prNumber);
  if (entry === undefined) return APPLIED;
  const end = endOf(work.queue, entry, event);
  if (end !== undefined) {
    move(work, { ...entry, pr: event.pr ?? { ...entry.pr, status: 'closed' } }, end);
  } else if (event.pr !== undefined) {
    // Targets belong to one head commit: those of an earlier head say nothing about this one.
    const targets = event.targets ?? (event.pr.headSha === entry.pr.headSha ? entry.targets : undefined);
    keep(work, { ...entry, pr: event.pr, targets });
  }
  return APPLIED;
}

/** Whether what was observed ends the entry, the most telling reason first. */
function endOf(queue: Queue, entry: Entry, { pr }: PullRequestObserved): Move | undefined {
  if (pr?.status === 'merged') return { to: 'MERGED', reason: 'MANUAL_MERGE' };
  if (pr === undefined || pr.status === 'closed') return cancelled('PR_CLOSED');
  if (pr.status === 'draft') return cancelled('PR_CONVERTED_TO_DRAFT');
  if (!isAdmitted(entry)) return undefined;
  if (pr.headSha !== entry.pr.headSha) return cancelled('PR_PUSHED_TO');
  if (pr.baseBranch !== queue.branch) return cancelled('PR_BASE_BRANCH_CHANGED');
  return undefined;
}

function cancelled(reason: ReasonCode): Move {
  return { to: 'CANCELLED', reason };
}

function notInQueue(prNumber: number): Outcome {
  return refused('PULL_REQUEST_NOT_IN_QUEUE', `Pull request #${prNumber} is not in the queue. Submit it first.`);
}

import type { ReplyOf } from '../../contract/operation.ts';
import type { getQueue, updateQueue } from '../../contract/queues.ts';
import type { WithRequired } from '../../contract/schema.ts';
import { nextHeadTestAt } from '../../engine/evidence/hold.ts';
import type { Frozen } from '../../engine/model/freeze.ts';
import type { Hold, Queue } from '../../engine/model/queue.ts';
import { entriesInOrder } from '../../engine/model/roster.ts';
import { testingTimeout } from '../../engine/model/testing-timeout.ts';
import { formatInstant, optionalInstant } from '../../lib/clock.ts';
import { memo } from '../../lib/memo.ts';
import { present } from '../../lib/present.ts';
import { describeLearned, UNUSED_SETTINGS } from '../../words/learned.ts';
import { frozenText, holdReason } from '../../words/queue.ts';
import type { RecentAlarms } from '../core/alarms.ts';
import { viewListEntry } from './entry-view.ts';
import { viewBreakage } from './find-breakage.ts';

export type QueueView = WithRequired<ReplyOf<typeof getQueue>, 'alarms'>;
export type QueueConfigView = ReplyOf<typeof updateQueue>;
type HoldView = NonNullable<QueueView['held']>;
type AlarmView = QueueView['alarms'][number];

const AUTOMATIC = ['bisectionConcurrency', 'testingTimeoutMinutes'] as const;

// SPEC S3, S7
export function viewQueueConfig(queue: Queue): QueueConfigView {
  const { settings, state, stateChange, branch, parked, hold, frozen } = queue;
  return {
    ...settings,
    state: parked === undefined ? state : 'PAUSED',
    branch,
    bisectionConcurrency: settings.bisectionConcurrency ?? settings.concurrency,
    testingTimeoutMinutes: testingTimeout(queue),
    automaticSettings: AUTOMATIC.filter((name) => settings[name] === null),
    ...present({
      stateSince: optionalInstant(stateChange?.at),
      stateBy: stateChange?.by,
      stateReason: stateChange?.reason,
      stateUntil: optionalInstant(stateChange?.until),
      parked: parked && { reason: parked.reason, eventId: parked.eventId ?? 0 },
      held: hold && viewHold(queue, hold),
      frozen: frozen && viewFrozen(frozen),
      learned: settings.optimizationMode === 'ADAPTIVE' ? viewLearned(queue) : undefined,
    }),
  };
}

// SPEC K22
function viewLearned(queue: Queue): NonNullable<QueueView['learned']> {
  const { failureRate, flakeRate, meanDurationMs, groupSize, text } = describeLearned(queue);
  return {
    failureRate: rounded(failureRate),
    flakeRate: rounded(flakeRate),
    ...(meanDurationMs === undefined ? {} : { meanDurationSeconds: rounded(meanDurationMs / 1000) }),
    groupSize,
    text,
    unusedSettings: UNUSED_SETTINGS,
  };
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

// SPEC N12
function viewHold(queue: Queue, hold: Hold): HoldView {
  return {
    kind: hold.cause.kind === 'checks' ? 'RED_BRANCH' : 'BROKEN_CONFIGURATION',
    since: formatInstant(hold.since),
    text: holdReason(queue, hold).text,
    checks: hold.cause.kind === 'checks' ? hold.cause.names : [],
    ...present({ nextTestAt: optionalInstant(nextHeadTestAt(queue)), breakage: viewBreakage(queue) }),
  };
}

// SPEC Q22
function viewFrozen(frozen: Frozen): NonNullable<QueueView['frozen']> {
  const { name, since, until, urgent } = frozen;
  return {
    name,
    since: formatInstant(since),
    until: formatInstant(until),
    allowUrgent: urgent === undefined,
    text: frozenText(frozen),
  };
}

export function viewAlarms(alarms: RecentAlarms): AlarmView[] {
  return alarms.map(({ at, code, text, endedAt }) => ({
    at: formatInstant(at),
    code,
    text,
    ...present({ endedAt: optionalInstant(endedAt) }),
  }));
}

/** Queues are immutable, and so are lists of alarms: the view is made once for each pair. */
export const viewQueue = memo(makeView);

/** Every live entry: under test, passed or held first, then pending, then not ready; each in order. */
function makeView(queue: Queue, alarms: RecentAlarms): QueueView {
  return {
    ...viewQueueConfig(queue),
    alarms: viewAlarms(alarms),
    enqueuedPullRequests: entriesInOrder(queue).map(viewListEntry),
  };
}

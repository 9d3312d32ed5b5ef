import type { Brand } from '../lib/brand.ts';
import type { Instant } from '../lib/clock.ts';
import type { IntMap } from '../lib/int-map.ts';
import { emptyIntMap, getIn } from '../lib/int-map.ts';
import type { Priority } from './priority.ts';
import type { PrNumber, PullRequestFacts } from './pull-request.ts';
import type { QueueMode, QueueSettings } from './settings.ts';
import type { ImpactedTargets } from './targets.ts';

/**
 * The state of one queue: all that `step` decides from. Every value is immutable; a step makes a new queue that shares
 * what did not change. Only live entries are here: one that ended leaves the queue with the step that ended it, and its
 * record stays in the store.
 */
export interface Queue {
  readonly branch: string;
  readonly settings: QueueSettings;
  readonly state: QueueState;
  /** Set exactly while `state` is SWITCHING_MODES. */
  readonly modeSwitch: ModeSwitch | undefined;
  /** How many entries had been submitted when the queue became parallel: those need no targets. */
  readonly submissionsBeforeParallel: number;
  /** By pull-request number. */
  readonly entries: IntMap<Entry>;
  /** How many submissions and admissions there ever were. They order entries: a clock may go back, a count does not. */
  readonly submissions: number;
  readonly admissions: number;
}

export const QUEUE_STATES = ['RUNNING', 'PAUSED', 'DRAINING', 'SWITCHING_MODES'] as const;
export type QueueState = (typeof QUEUE_STATES)[number];

/** The states that can be asked for: SWITCHING_MODES only follows from a change of mode. */
export const REQUESTABLE_QUEUE_STATES = ['RUNNING', 'PAUSED', 'DRAINING'] as const;
export type RequestableQueueState = (typeof REQUESTABLE_QUEUE_STATES)[number];

export interface ModeSwitch {
  readonly to: QueueMode;
  /** What the queue goes back to afterwards. */
  readonly from: RequestableQueueState;
}

export const LIVE_STATES = ['NOT_READY', 'PENDING', 'TESTING', 'TESTS_PASSED', 'PENDING_FAILURE'] as const;
export const ENDED_STATES = ['MERGED', 'FAILED', 'CANCELLED'] as const;
export const ENTRY_STATES = [...LIVE_STATES, ...ENDED_STATES] as const;
export type EntryState = (typeof ENTRY_STATES)[number];

export type EntryId = Brand<string, 'EntryId'>;

/** One pull request's stay in the queue. A later submission of the same pull request keeps the id. */
export interface Entry {
  readonly id: EntryId;
  readonly prNumber: PrNumber;
  readonly state: EntryState;
  readonly stateChangedAt: Instant;
  readonly pr: PullRequestFacts;
  readonly priority: Priority;
  readonly noBatch: boolean;
  readonly submittedAt: Instant;
  /** The number of this submission, among all of the queue. */
  readonly submission: number;
  /** The last admission of this cycle; undefined while NOT_READY. */
  readonly admission: Admission | undefined;
  /** What setImpactedTargets said for the present head; undefined where it said nothing. */
  readonly targets: ImpactedTargets | undefined;
}

export interface Admission {
  readonly at: Instant;
  readonly ordinal: number;
}

export function createQueue(branch: string, settings: QueueSettings, state: RequestableQueueState): Queue {
  return {
    branch,
    settings,
    state,
    modeSwitch: undefined,
    submissionsBeforeParallel: 0,
    entries: emptyIntMap(),
    submissions: 0,
    admissions: 0,
  };
}

export function findEntry(queue: Queue, prNumber: PrNumber): Entry | undefined {
  return getIn(queue.entries, prNumber);
}

export function isLive(state: EntryState): boolean {
  return (LIVE_STATES as readonly EntryState[]).includes(state);
}

/** In the line: under test, passed, held or waiting for a slot. A NOT_READY entry is submitted but not admitted. */
export function isAdmitted(entry: Entry): boolean {
  return entry.admission !== undefined && isLive(entry.state);
}

/** The mode itself changes only through here, so that entries older than a switch to PARALLEL are known. */
export function withMode(queue: Queue, mode: QueueMode): Queue {
  const submissionsBeforeParallel = mode === 'PARALLEL' ? queue.submissions : 0;
  return { ...queue, settings: { ...queue.settings, mode }, submissionsBeforeParallel };
}

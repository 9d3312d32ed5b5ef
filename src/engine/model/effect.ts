import type { Instant } from '../../lib/clock.ts';
import type { Sha } from '../../lib/sha.ts';
import type { CandidateNumber } from './candidate.ts';
import type { PrNumber } from './pull-request.ts';
import type { HoldCause } from './queue.ts';

/**
 * A request to act outside the engine. A step returns effects as values. The outbox stores them with the step and
 * executes them later, at least once. Each effect checks first whether it is already done, so a repetition does no
 * harm.
 */
export type Effect =
  | BuildCandidate
  | StartChecks
  | JudgeCheck
  | ReviewRequired
  | DiscardCandidate
  | LandCandidate
  | ReadmitEntry
  | ComputeTargets
  | ReviewLanes
  | ReadLine
  | UpdatePage
  | RaiseAlarm
  | EndAlarm;

/** Builds the commit. Answered by candidate_built, candidate_conflicted or candidate_unbuildable. */
export interface BuildCandidate {
  readonly kind: 'build_candidate';
  readonly candidate: CandidateNumber;
}

/** Publishes the commit to CI or starts the built-in runner. Answered by any number of check_reported. */
export interface StartChecks {
  readonly kind: 'start_checks';
  readonly candidate: CandidateNumber;
}

/** Finds out what quarantine makes of failed tests. Answered by check_judged as soon as the results are processed. */
export interface JudgeCheck {
  readonly kind: 'judge_check';
  readonly candidate: CandidateNumber;
  readonly check: string;
  /** The start of the attempt. */
  readonly attempt: Instant | undefined;
  /** After this instant the engine goes on without the judgement. */
  readonly until: Instant;
  /** Reports that have not arrived by then are not waited for. Absent: until the end. */
  readonly reportsUntil?: Instant;
}

/** Reads the required checks of a candidate under test again. Answered by required_reviewed. */
export interface ReviewRequired {
  readonly kind: 'review_required';
  readonly candidate: CandidateNumber;
}

/** Stops the checks of an ended candidate and deletes its test branch. */
export interface DiscardCandidate {
  readonly kind: 'discard_candidate';
  readonly candidate: CandidateNumber;
}

/**
 * Moves the target branch from exactly `expectedHead` to what passed. Answered by candidate_landed or landing_refused.
 */
export interface LandCandidate {
  readonly kind: 'land_candidate';
  readonly candidate: CandidateNumber;
  readonly expectedHead: Sha;
}

/** Reads an entry again that was removed for a failure of the branch. Answered by removed_pull_request_observed. */
export interface ReadmitEntry {
  readonly kind: 'readmit_entry';
  readonly prNumber: PrNumber;
  /** The submission that was removed. A later submission of the same pull request is not affected. */
  readonly submission: number;
}

/** Finds the targets of a head by the rules of the target branch. Answered by targets_computed. */
export interface ComputeTargets {
  readonly kind: 'compute_targets';
  readonly prNumber: PrNumber;
  readonly sha: Sha;
  readonly version: number;
}

/** Finds out whether a new head changed what targets are computed from. Answered by lanes_reviewed. */
export interface ReviewLanes {
  readonly kind: 'review_lanes';
}

/** Reads the newest commits of the target branch. Answered by line_read. */
export interface ReadLine {
  readonly kind: 'read_line';
}

/** Brings comment, check and labels of the pull request up to date. It has no answer. */
export interface UpdatePage {
  readonly kind: 'update_page';
  readonly prNumber: PrNumber;
}

/** Notifies the operators. */
export interface RaiseAlarm {
  readonly kind: 'raise_alarm';
  readonly code: AlarmCode;
  /** Absent if `cause` says it. */
  readonly text?: string;
  /** Why the queue holds. */
  readonly cause?: HoldCause;
  /** The move of the target branch that caused the alarm. The alarm describes it. */
  readonly move?: { readonly from: Sha; readonly to: Sha };
}

/** The cause of the alarm is gone. */
export interface EndAlarm {
  readonly kind: 'end_alarm';
  readonly code: AlarmCode;
}

export const ALARM_CODES = [
  'FOREIGN_PUSH',
  'TARGET_GONE',
  'UNPROVEN_LANDING',
  'RED_TARGET',
  'LATE_REPORTS',
  'PROBES_STOPPED',
  'BROKEN_CONFIGURATION',
  'QUEUE_PARKED',
  'WORK_PARKED',
  'FORGE_UNREACHABLE',
  'HOOKS_OFF',
  'HOOKS_STOPPED',
] as const;
export type AlarmCode = (typeof ALARM_CODES)[number];

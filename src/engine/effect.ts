import type { Instant } from '../lib/clock.ts';
import type { Sha } from '../lib/sha.ts';
import type { CandidateNumber } from './candidate.ts';
import type { PrNumber } from './pull-request.ts';

/**
 * Something the outside must be asked to do. A step returns effects as values; the shell stores them with the step and
 * carries them out later, at least once. Each looks before it acts, so that doing it again does no harm.
 */
export type Effect =
  | BuildCandidate
  | StartChecks
  | JudgeCheck
  | ReviewRequired
  | DiscardCandidate
  | LandCandidate
  | ReadmitEntry
  | UpdatePage
  | RaiseAlarm
  | EndAlarm;

/** Make the commit. Answered by candidate_built, candidate_conflicted or candidate_unbuildable. */
export interface BuildCandidate {
  readonly kind: 'build_candidate';
  readonly candidate: CandidateNumber;
}

/** Show the commit to CI. Answered by check_reported, as often as CI likes. */
export interface StartChecks {
  readonly kind: 'start_checks';
  readonly candidate: CandidateNumber;
}

/** Find out whether quarantine excuses a failure. Answered by check_judged, as soon as the results are there. */
export interface JudgeCheck {
  readonly kind: 'judge_check';
  readonly candidate: CandidateNumber;
  readonly check: string;
  /** Which attempt of it, by when that began. */
  readonly attempt: Instant | undefined;
  /** From then on nobody waits for the answer. */
  readonly until: Instant;
}

/** Read again which checks are required of a candidate under test. Answered by required_reviewed. */
export interface ReviewRequired {
  readonly kind: 'review_required';
  readonly candidate: CandidateNumber;
}

/** The candidate ended: stop its checks and remove its branch. */
export interface DiscardCandidate {
  readonly kind: 'discard_candidate';
  readonly candidate: CandidateNumber;
}

/** Move the target from exactly `expectedHead` to what passed. Answered by candidate_landed or landing_refused. */
export interface LandCandidate {
  readonly kind: 'land_candidate';
  readonly candidate: CandidateNumber;
  readonly expectedHead: Sha;
}

/** An entry was removed for a failure of the branch. Answered by removed_pull_request_observed. */
export interface ReadmitEntry {
  readonly kind: 'readmit_entry';
  readonly prNumber: PrNumber;
  /** Of the stay that ended: a later one is not meant. */
  readonly submission: number;
}

/** Whoever looks at the pull request should see how it stands now. Nothing answers it. */
export interface UpdatePage {
  readonly kind: 'update_page';
  readonly prNumber: PrNumber;
}

/** Something an operator must hear about. */
export interface RaiseAlarm {
  readonly kind: 'raise_alarm';
  readonly code: AlarmCode;
  readonly text: string;
  /** The move of the target it is about, for whoever can say what came with it. */
  readonly move?: { readonly from: Sha; readonly to: Sha };
}

/** What an alarm was raised for is over. */
export interface EndAlarm {
  readonly kind: 'end_alarm';
  readonly code: AlarmCode;
}

export const ALARM_CODES = [
  'FOREIGN_PUSH',
  'TARGET_GONE',
  'UNPROVEN_LANDING',
  'RED_TARGET',
  'BROKEN_CONFIGURATION',
  'QUEUE_PARKED',
  'WORK_PARKED',
  'FORGE_UNREACHABLE',
  'HOOKS_OFF',
  'HOOKS_STOPPED',
] as const;
export type AlarmCode = (typeof ALARM_CODES)[number];

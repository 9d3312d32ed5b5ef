import type { CandidateNumber } from './candidate.ts';
import type { Sha } from './pull-request.ts';

/**
 * Something the outside must be asked to do. A step returns effects as values; the shell stores them with the step and
 * carries them out later, at least once. Each looks before it acts, so that doing it again does no harm.
 */
export type Effect = BuildCandidate | StartChecks | DiscardCandidate | LandCandidate | RaiseAlarm;

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

/** Something an operator must hear about. */
export interface RaiseAlarm {
  readonly kind: 'raise_alarm';
  readonly code: AlarmCode;
  readonly text: string;
  /** The move of the target it is about, for whoever can say what came with it. */
  readonly move?: { readonly from: Sha; readonly to: Sha };
}

export const ALARM_CODES = [
  'FOREIGN_PUSH',
  'TARGET_GONE',
  'UNPROVEN_LANDING',
  'RED_TARGET',
  'QUEUE_PARKED',
  'WORK_PARKED',
] as const;
export type AlarmCode = (typeof ALARM_CODES)[number];

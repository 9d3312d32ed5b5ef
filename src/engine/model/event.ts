import type { Instant } from '../../lib/clock.ts';
import type { Sha } from '../../lib/sha.ts';
import type { Candidate, CandidateNumber, LandedKind } from './candidate.ts';
import type { Check } from './check.ts';
import type { JudgementFinding } from './judgement.ts';
import type { Priority } from './priority.ts';
import type { BlockReason, PrNumber, PullRequestFacts } from './pull-request.ts';
import type { Entry, EntryId, LineStep, RequestableQueueState, Submitter } from './queue.ts';
import type { ReasonCode } from './reason.ts';
import type { RequiredSources, StartProblem } from './required.ts';
import type { QueueSettings } from './settings.ts';
import type { ImpactedTargets } from './targets.ts';

/** A fact. It carries everything that the engine needs to know about it, because the engine asks no one. */
export type QueueEvent =
  | QueueUpdated
  | PullRequestSubmitted
  | PullRequestCancelled
  | TestsRestartRequested
  | ImpactedTargetsSet
  | LaneEvent
  | PullRequestObserved
  | RemovedPullRequestObserved
  | TargetObserved
  | HeadTried
  | LineRead
  | BreakageAsked
  | LandingsCompared
  | CandidateEvent
  | TimePassed;

/** Answers about targets that the server computes. */
export type LaneEvent = TargetsComputed | LanesReviewed;

/** Answers of effects, and reports of CI. */
export type CandidateEvent =
  | CandidateBuilt
  | CandidateConflicted
  | CandidateUnbuildable
  | CheckReported
  | CheckJudged
  | RequiredReviewed
  | ChecksLost
  | LandingEvent;

export type LandingEvent = LandingBegun | CandidateLanded | LandingRefused;

interface Happening {
  readonly at: Instant;
}

interface Act extends Happening {
  /** The name of the token or person that acted. */
  readonly actor: string;
}

export interface QueueUpdated extends Act {
  readonly kind: 'queue_updated';
  readonly settings: Partial<QueueSettings>;
  readonly state: RequestableQueueState | undefined;
  /** Why the state changes. */
  readonly reason?: string;
  /** The end of a pause. */
  readonly until?: Instant;
}

export interface PullRequestSubmitted extends Act {
  readonly kind: 'pull_request_submitted';
  /** The id of the pull request's earlier stay, or a new one. Ignored if the pull request is in the queue. */
  readonly entryId: EntryId;
  readonly pr: PullRequestFacts;
  readonly targets: ImpactedTargets | undefined;
  /** Undefined: unchanged, or the default for a new submission. */
  readonly priority: Priority | undefined;
  readonly noBatch: boolean | undefined;
  /** It repairs a red branch, so it need not wait for the others. Absent: unchanged. */
  readonly repair?: boolean;
  /** A person submitted it at the forge. Absent: it came over the API with a token. */
  readonly by?: 'person';
  readonly submitter?: Submitter;
}

export interface PullRequestCancelled extends Act {
  readonly kind: 'pull_request_cancelled';
  readonly prNumber: PrNumber;
}

export interface TestsRestartRequested extends Act {
  readonly kind: 'tests_restart_requested';
  readonly prNumber: PrNumber;
  readonly by?: 'person';
}

export interface ImpactedTargetsSet extends Act {
  readonly kind: 'impacted_targets_set';
  readonly prNumber: PrNumber;
  readonly sha: Sha;
  readonly targets: ImpactedTargets;
}

export interface TargetsComputed extends Happening {
  readonly kind: 'targets_computed';
  readonly prNumber: PrNumber;
  readonly sha: Sha;
  /** Of the rules, as they were asked with. */
  readonly version: number;
  /** Undefined: the target branch has no rules. */
  readonly targets: ImpactedTargets | undefined;
}

/** The rules and manifests of this head were compared with those of the head before. */
export interface LanesReviewed extends Happening {
  readonly kind: 'lanes_reviewed';
  readonly head: Sha;
  readonly isChanged: boolean;
}

/** The present state of a pull request, read from the forge. Undefined if it no longer exists. */
export interface PullRequestObserved extends Happening {
  readonly kind: 'pull_request_observed';
  readonly prNumber: PrNumber;
  readonly pr: PullRequestFacts | undefined;
  readonly targets: ImpactedTargets | undefined;
  /** The commit on the branch that this queue signed, if its own record of the landing is lost. */
  readonly landedAs?: Sha;
}

/** The present state of a pull request that was removed for a failure of the branch, read from the forge. */
export interface RemovedPullRequestObserved extends Happening {
  readonly kind: 'removed_pull_request_observed';
  readonly prNumber: PrNumber;
  readonly submission: number;
  /** Undefined if it no longer exists. */
  readonly pr: PullRequestFacts | undefined;
  readonly targets: ImpactedTargets | undefined;
}

/** The present head of the target branch, read from the forge. Undefined if the branch no longer exists. */
export interface TargetObserved extends Happening {
  readonly kind: 'target_observed';
  readonly head: Sha | undefined;
  /** How many heads the queue knew when the forge was asked. An answer from before a landing is outdated. */
  readonly since: number;
  /** The head that the queue knew is an ancestor of this one: no commit was removed from the branch. */
  readonly isDescendant: boolean;
  /** This queue made the commit and landed it, and its own record of that is lost. */
  readonly isOwn?: true;
}

/** All checks of the built-in runner passed on a head, as the queue would run them. */
export interface HeadTried extends Happening {
  readonly kind: 'head_tried';
  readonly head: Sha;
  readonly ran: { readonly since: Instant; readonly at: Instant };
  readonly passed: readonly string[];
  readonly sources: RequiredSources;
}

/** The newest commits of the first-parent line, oldest first. The last one is the head. */
export interface LineRead extends Happening {
  readonly kind: 'line_read';
  readonly steps: readonly LineStep[];
}

/** Somebody asks what broke the branch. */
export interface BreakageAsked extends Act {
  readonly kind: 'breakage_asked';
  /** The search begins anew. */
  readonly again?: boolean;
}

/** Landings were compared with a branch that was moved outside the queue. */
export interface LandingsCompared extends Happening {
  readonly kind: 'landings_compared';
  /** Landed entries in their last state, with what is so now: the branch has lost them, or has them again. */
  readonly entries: readonly Entry[];
}

interface OfCandidate extends Happening {
  readonly candidate: CandidateNumber;
}

export interface CandidateBuilt extends OfCandidate {
  readonly kind: 'candidate_built';
  readonly sha: Sha;
  readonly tree: Sha;
  readonly sources: RequiredSources;
  /** A check of a head may have passed although a test failed, and nothing judges its reports. */
  readonly isHeadUnproven?: true;
}

/**
 * A member cannot be merged. `culprit` is the entry ahead that it conflicts with; without one it conflicts with the
 * target branch.
 */
export interface CandidateConflicted extends OfCandidate {
  readonly kind: 'candidate_conflicted';
  readonly prNumber: PrNumber;
  readonly culprit: PrNumber | undefined;
  /** Absent if the forge does not name them. */
  readonly files?: readonly string[];
}

export interface CandidateUnbuildable extends OfCandidate {
  readonly kind: 'candidate_unbuildable';
  readonly reason: StartProblem;
  readonly detail: string;
}

export interface CheckReported extends OfCandidate {
  readonly kind: 'check_reported';
  readonly check: Omit<Check, 'reportedAt'>;
}

/** The failed tests of a check are judged. */
export interface CheckJudged extends OfCandidate, JudgementFinding {
  readonly kind: 'check_judged';
  readonly check: string;
  /** When the judged attempt began; undefined if its reporter did not say. */
  readonly attempt: Instant | undefined;
  /** The last state of the candidate if it has left the queue by now. Only its record changes. */
  readonly ended?: Candidate;
  /** The entries that it landed, if its reports arrived after that. */
  readonly landed?: readonly Entry[];
}

/** The required checks that the repository names now. */
export interface RequiredReviewed extends OfCandidate {
  readonly kind: 'required_reviewed';
  /** Undefined if they cannot be read: the commit cannot be built again. */
  readonly sources: RequiredSources | undefined;
}

/** The process that ran the checks is gone, so they will never report. */
export interface ChecksLost extends OfCandidate {
  readonly kind: 'checks_lost';
  /** Only a lost runner counts as a try. A server restart or changed commands are not the candidate's fault. */
  readonly cause: 'runner_lost' | 'server_restarted' | 'commands_changed';
}

/** From here on the target branch may have moved. Only the answer of the landing tells. */
export interface LandingBegun extends OfCandidate {
  readonly kind: 'landing_begun';
}

export interface CandidateLanded extends OfCandidate {
  readonly kind: 'candidate_landed';
  readonly how: LandedKind;
  /** The head before the push and after it. */
  readonly base: Sha;
  readonly pushedSha: Sha;
  readonly pushedTree: Sha;
  /** The entries that landed, in order. A merge API may stop half-way; a push lands all of them. */
  readonly entries: readonly LandedEntry[];
  /** Why a merge API stopped. Absent if all landed, or if an entry was cancelled in the middle. */
  readonly stopped?: LandingStop;
}

/** The obstacle that a merge API met half-way. The entries before it have landed. */
export type LandingStop = EntryRefused | TargetMoved | Strayed;

/** The target branch was pushed to outside the queue. */
export interface TargetMoved {
  readonly kind: 'target_moved';
  readonly head: Sha | undefined;
  readonly isDescendant: boolean;
}

/** The forge merged the next entry onto an unexpected commit. It has landed in a state that was not tested. */
export interface Strayed {
  readonly kind: 'strayed';
  readonly prNumber: PrNumber;
  readonly sha: Sha;
  readonly tree: Sha;
  readonly head: Sha;
  readonly isDescendant: boolean;
}

/** The forge refused to merge this entry. */
export interface EntryRefused {
  readonly kind: 'entry_refused';
  readonly prNumber: PrNumber;
  readonly reason: ReasonCode;
  readonly detail?: string;
}

/** It is not merged: a review that the target branch asks for is missing. */
export interface ReviewLost {
  readonly kind: 'review_lost';
  readonly prNumber: PrNumber;
  readonly block: BlockReason;
}

export interface LandedEntry {
  readonly prNumber: PrNumber;
  readonly sha: Sha;
  readonly tree: Sha;
  /** Present if it differs from how the whole candidate landed. */
  readonly kind?: LandedKind;
}

export interface LandingRefused extends OfCandidate {
  readonly kind: 'landing_refused';
  readonly problem:
    | TargetMoved
    | { readonly kind: 'not_composable' }
    /** Nothing landed, because an entry was cancelled first. */
    | { readonly kind: 'called_off' }
    | ReviewLost
    | EntryRefused;
}

/** Only time has passed. */
export interface TimePassed extends Happening {
  readonly kind: 'time_passed';
}

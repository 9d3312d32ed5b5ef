import type { Instant } from '../lib/clock.ts';
import type { Sha } from '../lib/sha.ts';
import type { Candidate, CandidateNumber, LandedKind } from './candidate.ts';
import type { Check } from './check.ts';
import type { JudgementFinding } from './judgement.ts';
import type { Priority } from './priority.ts';
import type { PrNumber, PullRequestFacts } from './pull-request.ts';
import type { EntryId, RequestableQueueState } from './queue.ts';
import type { ReasonCode } from './reason.ts';
import type { RequiredSources, StartProblem } from './required.ts';
import type { QueueSettings } from './settings.ts';
import type { ImpactedTargets } from './targets.ts';

/** Something that happened. Whatever the engine may need to know about it comes with it; the engine asks nobody. */
export type QueueEvent =
  | QueueUpdated
  | PullRequestSubmitted
  | PullRequestCancelled
  | TestsRestartRequested
  | ImpactedTargetsSet
  | PullRequestObserved
  | RemovedPullRequestObserved
  | TargetObserved
  | CandidateEvent
  | TimePassed;

/** What comes back from an effect, or from CI. */
export type CandidateEvent =
  | CandidateBuilt
  | CandidateConflicted
  | CandidateUnbuildable
  | CheckReported
  | CheckJudged
  | RequiredReviewed
  | ChecksLost
  | LandingBegun
  | CandidateLanded
  | LandingRefused;

interface Happening {
  readonly at: Instant;
}

interface Act extends Happening {
  /** Who did it: the name of a token, later of a person. */
  readonly actor: string;
}

export interface QueueUpdated extends Act {
  readonly kind: 'queue_updated';
  readonly settings: Partial<QueueSettings>;
  readonly state: RequestableQueueState | undefined;
}

export interface PullRequestSubmitted extends Act {
  readonly kind: 'pull_request_submitted';
  /** The id of the pull request's earlier stay, or a new one; passed over where the pull request is in the queue. */
  readonly entryId: EntryId;
  readonly pr: PullRequestFacts;
  readonly targets: ImpactedTargets | undefined;
  /** Undefined: as it is, or the default for a new submission. */
  readonly priority: Priority | undefined;
  readonly noBatch: boolean | undefined;
  /** It mends a red branch: then it need not wait for the others. Absent: as it is. */
  readonly repair?: boolean;
  /** A person asked for it at the forge. Absent: somebody with a token. */
  readonly by?: 'person';
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

/** A forge was asked, and this is how the pull request is now; undefined where it exists no more. */
export interface PullRequestObserved extends Happening {
  readonly kind: 'pull_request_observed';
  readonly prNumber: PrNumber;
  readonly pr: PullRequestFacts | undefined;
  readonly targets: ImpactedTargets | undefined;
}

/** A forge was asked, and this is how a pull request is that was removed for a failure of the branch. */
export interface RemovedPullRequestObserved extends Happening {
  readonly kind: 'removed_pull_request_observed';
  readonly prNumber: PrNumber;
  readonly submission: number;
  /** Undefined where it exists no more. */
  readonly pr: PullRequestFacts | undefined;
  readonly targets: ImpactedTargets | undefined;
}

/** A forge was asked for the target's head, and this is it; undefined where the branch exists no more. */
export interface TargetObserved extends Happening {
  readonly kind: 'target_observed';
  readonly head: Sha | undefined;
  /** How many heads the queue knew of when the forge was asked: an answer older than a landing is worth nothing. */
  readonly since: number;
  /** The head the queue knew is an ancestor of this one: nothing was taken off the branch. */
  readonly isDescendant: boolean;
}

interface OfCandidate extends Happening {
  readonly candidate: CandidateNumber;
}

export interface CandidateBuilt extends OfCandidate {
  readonly kind: 'candidate_built';
  readonly sha: Sha;
  readonly tree: Sha;
  readonly sources: RequiredSources;
}

/** A member cannot be merged: with the target itself (no culprit), or with an entry ahead of it. */
export interface CandidateConflicted extends OfCandidate {
  readonly kind: 'candidate_conflicted';
  readonly prNumber: PrNumber;
  readonly culprit: PrNumber | undefined;
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

/** Whether quarantine excuses the failure of a check. */
export interface CheckJudged extends OfCandidate, JudgementFinding {
  readonly kind: 'check_judged';
  readonly check: string;
  /** When the attempt began that this is about; undefined where its reporter did not say. */
  readonly attempt: Instant | undefined;
  /** The candidate as it was when it left the queue, where it had by then: only its record changes. */
  readonly ended?: Candidate;
}

/** What the repository says now about the checks that it requires. */
export interface RequiredReviewed extends OfCandidate {
  readonly kind: 'required_reviewed';
  readonly sources: RequiredSources;
}

/** What ran the checks is gone, and they will never report. */
export interface ChecksLost extends OfCandidate {
  readonly kind: 'checks_lost';
  /** Only a lost runner counts as a try: a restart of ours, or commands that somebody changed, are nobody's fault. */
  readonly cause: 'runner_lost' | 'server_restarted' | 'commands_changed';
}

/** From now on nobody can say whether the target has moved until an answer is there. */
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
  /** What landed, in order: all that was asked for, unless a forge's merge API stopped half-way. */
  readonly entries: readonly LandedEntry[];
  /** Why it stopped. Absent where all landed, or where somebody took an entry back in the middle. */
  readonly stopped?: LandingStop;
}

/** What a forge's merge API met half-way. What came before it has landed. */
export type LandingStop = EntryRefused | TargetMoved | Strayed;

/** Somebody else moved the target. */
export interface TargetMoved {
  readonly kind: 'target_moved';
  readonly head: Sha | undefined;
  readonly isDescendant: boolean;
}

/** The next entry was merged onto something else than what was predicted: it has landed, and was not tested so. */
export interface Strayed {
  readonly kind: 'strayed';
  readonly prNumber: PrNumber;
  readonly sha: Sha;
  readonly tree: Sha;
  readonly head: Sha;
  readonly isDescendant: boolean;
}

/** The forge will not have this entry. */
export interface EntryRefused {
  readonly kind: 'entry_refused';
  readonly prNumber: PrNumber;
  readonly reason: ReasonCode;
  readonly detail?: string;
}

export interface LandedEntry {
  readonly prNumber: PrNumber;
  readonly sha: Sha;
  readonly tree: Sha;
  /** Where it differs from how the candidate as a whole landed. */
  readonly kind?: LandedKind;
}

export interface LandingRefused extends OfCandidate {
  readonly kind: 'landing_refused';
  readonly problem:
    | TargetMoved
    | { readonly kind: 'not_composable' }
    /** It did not happen, and somebody had taken an entry back. */
    | { readonly kind: 'called_off' }
    | EntryRefused;
}

/** Nothing happened but that it is later now. */
export interface TimePassed extends Happening {
  readonly kind: 'time_passed';
}

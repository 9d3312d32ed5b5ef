import type { Instant } from '../lib/clock.ts';
import type { Priority } from './priority.ts';
import type { PrNumber, PullRequestFacts, Sha } from './pull-request.ts';
import type { EntryId, RequestableQueueState } from './queue.ts';
import type { QueueSettings } from './settings.ts';
import type { ImpactedTargets } from './targets.ts';

/** Something that happened. Whatever the engine may need to know about it comes with it; the engine asks nobody. */
export type QueueEvent =
  | QueueUpdated
  | PullRequestSubmitted
  | PullRequestCancelled
  | TestsRestartRequested
  | ImpactedTargetsSet
  | PullRequestObserved;

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
}

export interface PullRequestCancelled extends Act {
  readonly kind: 'pull_request_cancelled';
  readonly prNumber: PrNumber;
}

export interface TestsRestartRequested extends Act {
  readonly kind: 'tests_restart_requested';
  readonly prNumber: PrNumber;
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

import type { CheckConclusion } from '../../engine/check.ts';
import type { Explanation } from '../../engine/explanation.ts';
import type { PrNumber } from '../../engine/pull-request.ts';
import type { Entry } from '../../engine/queue.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Sha } from '../../lib/sha.ts';

/** All that people are told about a pull request in one queue. */
export interface PageFacts {
  readonly branch: string;
  readonly entry: Entry;
  readonly explanation: Explanation;
  /** How many are in the line. */
  readonly admitted: number;
  /** What happened to it last. */
  readonly latest: TimelineSentence | undefined;
  /** Why it is tested again, where it is. */
  readonly retestReason: TimelineSentence | undefined;
  readonly submittedBy: string | undefined;
  readonly run: RunFacts | undefined;
  /** Pull requests that may be referred to. */
  readonly linkable: ReadonlySet<number>;
  /** The repository's page; undefined where it has none. */
  readonly page: string | undefined;
  readonly howToSubmit: HowToSubmit;
}

/** A sentence of the timeline, and who is named in it. */
export interface TimelineSentence {
  readonly text: string;
  readonly actor?: string | undefined;
}

/** How somebody can submit it again. */
export interface HowToSubmit {
  readonly hasCommands: boolean;
  readonly label: string | undefined;
}

/** The run of tests that matters now, or that mattered last. */
export interface RunFacts {
  readonly id: string;
  readonly branch: string;
  readonly sha: Sha | undefined;
  readonly isBisection: boolean;
  /** It also is a draft pull request. */
  readonly hasDraft: boolean;
  /** Tested together, the pull request itself included. */
  readonly members: readonly PrNumber[];
  readonly beneath: readonly PrNumber[];
  readonly required: readonly string[];
  /** Since when nothing was heard of them, where that is long. */
  readonly silentSince: Instant | undefined;
  /** What has not reported by then has failed; undefined where it is waited for without end, or no more. */
  readonly endsAt: Instant | undefined;
  /** The run in which exactly the same files had passed before: this one did not have to run. */
  readonly provenBy: string | undefined;
  /** Required ones that did not pass, and those that were excused. */
  readonly failed: readonly FailedCheck[];
}

export interface FailedCheck {
  readonly name: string;
  /** Undefined: it never ended. */
  readonly conclusion: CheckConclusion | undefined;
  /** It was heard of, be it only that it runs. */
  readonly hasBegun: boolean;
  readonly url: string | undefined;
  readonly summary: string | undefined;
  readonly isWaived: boolean;
  readonly tests: readonly FailedTestFacts[];
  /** How many tests failed in it, where that is known. */
  readonly failing: number;
}

export interface FailedTestFacts {
  readonly name: string;
  readonly kind: 'failed' | 'flaky' | 'broken' | 'quarantined';
  readonly url: string | undefined;
}

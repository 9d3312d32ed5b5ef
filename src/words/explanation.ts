import type { Candidate, CandidateNumber } from '../engine/model/candidate.ts';
import type { Check } from '../engine/model/check.ts';
import type { Instant } from '../lib/clock.ts';

export interface Explanation {
  readonly headline: string;
  readonly summary: string;
  /** From 1, among the admitted entries. */
  readonly position?: number;
  readonly next: string;
  /** Command lines that the author may type next. */
  readonly commands: readonly string[];
  readonly reasons: readonly ExplanationReason[];
}

export interface ExplanationReason extends About {
  readonly code: string;
  readonly text: string;
  readonly reasons: readonly ExplanationReason[];
}

interface About {
  readonly prNumber?: number;
  readonly check?: string;
  readonly testRun?: CandidateNumber;
  readonly since?: Instant;
  readonly url?: string;
}

export function reason(
  code: string,
  text: string,
  about: About = {},
  reasons: readonly ExplanationReason[] = [],
): ExplanationReason {
  return { code, text, ...about, reasons };
}

/** Facts that the queue itself does not have. Sentences get by without them. */
export interface Beyond {
  /** The candidate that tests the entry, or that decided it. */
  readonly last?: Candidate | undefined;
  /** The failed checks of the candidate that tests the entry, or that decided it. */
  readonly failed?: readonly FailedCheck[];
  /** While the queue holds: the failed checks of the branch itself. */
  readonly held?: readonly FailedCheck[];
  /** Pull requests that have left the queue. */
  readonly gone?: ReadonlyMap<number, GonePr> | undefined;
  readonly testBranch?: string | undefined;
  /** The repository and the branch, as command lines name them: `local/acme/app main`. */
  readonly place?: string | undefined;
}

/** Command lines need the name of the place. */
export function commandsOf({ place }: Beyond, make: (place: string) => readonly string[]): readonly string[] {
  return place === undefined ? [] : make(place);
}

export interface GonePr {
  readonly title: string;
  readonly landedSha?: string | undefined;
}

/** Without a conclusion, it did not finish. */
export interface FailedCheck extends Pick<Check, 'name' | 'conclusion' | 'url' | 'summary'> {
  /** It reported at least once. */
  readonly hasBegun: boolean;
  readonly isWaived: boolean;
  readonly tests: readonly FailedTest[];
  /** The number of failed tests, as far as uploads tell. */
  readonly failing: number;
}

export interface FailedTest {
  readonly id: string;
  readonly file?: string | undefined;
  readonly name: string;
  readonly kind: 'failed' | 'flaky' | 'broken' | 'quarantined';
  readonly url: string | undefined;
  /** Its runs and failures of the last seven days; undefined if they were not counted. */
  readonly lately?: { readonly runs: number; readonly failures: number; readonly prs: number } | undefined;
}

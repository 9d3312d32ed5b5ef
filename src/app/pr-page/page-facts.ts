import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { Entry } from '../../engine/model/queue.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Sha } from '../../lib/sha.ts';
import type { Explanation, FailedCheck } from '../../words/explanation.ts';
import type { Headline } from '../../words/headlines.ts';

/** Everything that the page shows about a pull request in one queue. */
export interface PageFacts {
  readonly branch: string;
  readonly entry: Entry;
  readonly explanation: Explanation;
  readonly headline: Headline;
  /** The number of admitted entries. */
  readonly admitted: number;
  /** Why it is tested again. */
  readonly retestReason: TimelineSentence | undefined;
  readonly submittedBy: string | undefined;
  readonly run: RunFacts | undefined;
  /** Pull requests that a text may link to. */
  readonly linkable: ReadonlySet<number>;
  /** The address of the repository's page. */
  readonly page: string | undefined;
  /** Its page on the dashboard. */
  readonly dashboard: string | undefined;
  readonly howToSubmit: HowToSubmit;
  /** When it lands, if that can be said. */
  readonly forecast: { readonly landsAtP50: Instant; readonly landsAtP95: Instant } | undefined;
}

export interface TimelineSentence {
  readonly text: string;
  readonly actor?: string | undefined;
}

/** How a person can submit it again. */
export interface HowToSubmit {
  readonly hasCommands: boolean;
  readonly label: string | undefined;
}

/** The present candidate, or the last one. */
export interface RunFacts {
  readonly id: string;
  readonly branch: string;
  readonly sha: Sha | undefined;
  readonly isBisection: boolean;
  /** The candidate also has a draft pull request. */
  readonly hasDraft: boolean;
  /** Pull requests that are tested together, with this one. */
  readonly members: readonly PrNumber[];
  readonly beneath: readonly PrNumber[];
  readonly required: readonly string[];
  /** Set when the required checks have reported nothing for long. */
  readonly silentSince: Instant | undefined;
  /** Checks that CI reported and that are not required. */
  readonly heard: readonly string[];
  /** Checks that have not reported by then count as failed. Undefined: no limit, or already over. */
  readonly endsAt: Instant | undefined;
  /** The candidate in which the same tree passed before, so that this one did not run. */
  readonly provenBy: string | undefined;
  /** Required checks that failed, also waived ones. */
  readonly failed: readonly FailedCheck[];
}

import type { Conclusion, TestedTree } from '../../flaky/core/run.ts';
import type { FailureText } from '../../flaky/failure-group.ts';
import type { Issue } from '../../flaky/identity/issue.ts';
import type { TestNames } from '../../flaky/identity/test-id.ts';
import type { SuiteRepeats } from '../../junit/junit-case.ts';
import type { Instant } from '../../lib/clock.ts';
import type { UploadFields } from '../../storage/uploads.ts';

/** One execution of one test, as the upload reports it. */
export interface ReadRun {
  readonly testId: string;
  readonly names: TestNames;
  readonly conclusion: Conclusion;
  /**
   * The time of the case, else of the suite, else of the report, else of receipt. Impossible times become the time of
   * receipt.
   */
  readonly startedAt: Instant;
  readonly durationMs: number | null;
  readonly attempt: number | null;
  /** Set on a failing child of a case: how the case itself ended. */
  readonly rerunOf: 'SUCCESS' | 'FAILURE' | null;
  /** The suites around it below the outermost one; null: unknown. */
  readonly path: string | null;
  /** Set if every name occurs once in its suite; null: unknown. */
  readonly repeats: SuiteRepeats | null;
  /** Failures only; raw, so it may contain secrets. */
  readonly failure: FailureText | null;
  readonly codeOwners: readonly string[];
}

/** Facts that all runs of the upload share; comes before the first run. */
export interface ReadFacts {
  readonly kind: 'facts';
  readonly fields: UploadFields;
  /** Job, check and platform in one text, for pass on retry. */
  readonly job: string;
  readonly jobAttempt: number | null;
  readonly isFork: boolean;
  /** Reports do not say it. Absent until the place of the upload is known. */
  readonly tree?: TestedTree | null;
}

export type ReadItem = ReadFacts | { readonly kind: 'runs'; readonly runs: readonly ReadRun[] };

/** The result of reading. */
export interface ReadSummary {
  readonly files: number;
  readonly issues: readonly Issue[];
  /** Every report was read to its end, has as many cases as it declares, and tells of no error before a test. */
  readonly isWhole: boolean;
  /** Why the results are incomplete, as a sentence. */
  readonly problem: string | null;
  /** Nothing of the upload may be used: a bundle that contradicts its URL, a refused archive. */
  readonly isRefused: boolean;
  /** Cases that are no tests were left out. */
  readonly hasSetupErrors?: true;
}

/** Allows for clock differences between machines. */
export const MAX_AHEAD_MS = 5 * 60_000;
const MAX_AGE_MS = 30 * 24 * 3_600_000;

/** The reported time of a run, or the time of receipt if that is missing or impossible. */
// SPEC U24
export function runTime(said: number | null, receivedAt: Instant): Instant {
  if (said === null || !(said <= receivedAt + MAX_AHEAD_MS && said >= receivedAt - MAX_AGE_MS)) return receivedAt;
  return Math.floor(said);
}

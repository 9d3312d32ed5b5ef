import type { Conclusion } from '../../flaky/core/run.ts';
import type { FailureText } from '../../flaky/failure-group.ts';
import type { TestNames } from '../../flaky/identity/test-id.ts';
import type { SuiteRepeats } from '../../junit/junit-case.ts';
import type { Instant } from '../../lib/clock.ts';
import type { UploadFields, UploadIssue } from '../../storage/uploads.ts';

/** One execution of one test, as an upload tells it. */
export interface ReadRun {
  readonly testId: string;
  readonly names: TestNames;
  readonly conclusion: Conclusion;
  /** The case's time, else the suite's, else the report's, else receipt; what cannot be true is receipt. */
  readonly startedAt: Instant;
  readonly durationMs: number | null;
  readonly attempt: number | null;
  /** Failing child of a case: how the case itself ended. */
  readonly rerunOf: 'SUCCESS' | 'FAILURE' | null;
  /** The suites around it below the outermost one; null: not told. */
  readonly path: string | null;
  /** Where its suite has every name once; null: that is not known. */
  readonly repeats: SuiteRepeats | null;
  /** Failures only; as it came, secrets and all. */
  readonly failure: FailureText | null;
  readonly codeOwners: readonly string[];
}

/** What all runs of the upload have in common; comes before the first run. */
export interface ReadFacts {
  readonly kind: 'facts';
  readonly fields: UploadFields;
  /** Job, check and platform in one text, for pass on retry. */
  readonly job: string;
  readonly jobAttempt: number | null;
  readonly isFork: boolean;
}

export type ReadItem = ReadFacts | { readonly kind: 'runs'; readonly runs: readonly ReadRun[] };

/** How reading went, when it is over. */
export interface ReadSummary {
  readonly files: number;
  readonly issues: readonly UploadIssue[];
  /** Every report was read to its end, and the counts it declares are those seen. */
  readonly isWhole: boolean;
  /** What is not whole, as a sentence. */
  readonly problem: string | null;
  /** Nothing of the upload may be used: a bundle that contradicts its URL, a refused archive. */
  readonly isRefused: boolean;
}

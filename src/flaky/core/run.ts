import type { Instant } from '../../lib/clock.ts';
import type { EvidenceFlaw } from './evidence.ts';

export type Conclusion = 'SUCCESS' | 'FAILURE' | 'SKIPPED';

/** What all runs of one upload have in common. */
export interface UploadFacts {
  readonly id: string;
  readonly branch: string;
  readonly sha: string;
  /** The job or check the runs belong to, platform legs told apart; '' where nobody said. */
  readonly job: string;
  /** Which try of that job, where CI says so. Two uploads of one try are parts of it, never a retry. */
  readonly jobAttempt: number | null;
  readonly prNumber: number | null;
  /** Why it is evidence for nothing, such as a fork's commit of which anybody can send anything; null: it is. */
  readonly flaw: EvidenceFlaw | null;
}

/** One execution of one test within an upload. */
export interface ObservedRun {
  readonly conclusion: Conclusion;
  readonly startedAt: Instant;
  readonly durationMs: number | null;
  /** The report's own count of tries, where it has one. */
  readonly attempt: number | null;
  /** Failing child of a case (`flakyFailure`, `rerunFailure`): how the case itself ended. Null: a case of its own. */
  readonly rerunOf: 'SUCCESS' | 'FAILURE' | null;
  /** The suites around it below the outermost one; null or absent: not told. */
  readonly path?: string | null;
}

/**
 * What another upload of the same commit and job said of the same test. Uploads that are
 * evidence for nothing say nothing.
 */
export interface EarlierOutcome {
  readonly uploadId: string;
  readonly branch: string;
  readonly prNumber: number | null;
  readonly jobAttempt: number | null;
  /** It failed in that upload at least once; otherwise it only passed. */
  readonly hasFailed: boolean;
  /** The latest of its runs there. */
  readonly at: Instant;
  /** Those of its paths that failed there; absent, or null among them: not told. */
  readonly failedPaths?: readonly (string | null)[];
}

/** A run as evidence shows it. */
export interface RunRef {
  readonly at: Instant;
  readonly sha: string;
  readonly branch: string;
  readonly job: string;
  readonly prNumber: number | null;
  readonly uploadId: string;
  /** Absent: not told. */
  readonly path?: string | null;
}

export function refOf(upload: UploadFacts, at: Instant, path?: string | null): RunRef {
  const { sha, branch, job, prNumber, id } = upload;
  const ref = { at, sha, branch, job, prNumber, uploadId: id };
  return path === undefined || path === null ? ref : { ...ref, path };
}

/** Latest first; what is equally late in an order that does not depend on which arrived first. */
export function compareRefs(one: RunRef, other: RunRef): number {
  return (
    other.at - one.at ||
    compareTexts(one.sha, other.sha) ||
    compareTexts(one.job, other.job) ||
    compareTexts(one.uploadId, other.uploadId) ||
    compareTexts(one.branch, other.branch) ||
    compareTexts(one.path ?? '', other.path ?? '')
  );
}

export function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** The latest so many of both. The same list where the new ones change nothing. */
export function keepLatest<Ref extends RunRef>(
  kept: readonly Ref[],
  added: readonly Ref[],
  limit: number,
): readonly Ref[] {
  if (added.length === 0) return kept;
  return [...kept, ...added].sort(compareRefs).slice(0, limit);
}

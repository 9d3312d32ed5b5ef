import type { Instant } from '../../lib/clock.ts';
import type { EvidenceFlaw } from './evidence.ts';

export type Conclusion = 'SUCCESS' | 'FAILURE' | 'SKIPPED';

/** Facts that all runs of one upload share. */
export interface UploadFacts {
  readonly id: string;
  readonly branch: string;
  /** The branch is a test branch of the merge queue. */
  readonly isTestBranch: boolean;
  readonly sha: string;
  readonly tree: TestedTree | null;
  /** The candidate of the queue that was tested; null: none. */
  readonly candidateId: string | null;
  /** The job or check of the runs, with platform legs told apart; '' if unknown. */
  readonly job: string;
  /** Attempt number of that job, if CI reports it. Two uploads of one attempt are parts of it, never a retry. */
  readonly jobAttempt: number | null;
  readonly prNumber: number | null;
  /**
   * Why the upload is evidence for nothing, such as a fork's commit, for which any fork can send results; null: it is
   * evidence.
   */
  readonly flaw: EvidenceFlaw | null;
}

/**
 * The tree that was tested. If the built-in runner tested it, a space and the identity of its commands follow: another
 * command is another test run. A probe runs few tests, and is compared with probes alone. Null wherever it is used: unknown, and then the commit stands for itself.
 */
export type TestedTree = string;

export function testedTree(tree: string, commands: string | undefined, scope?: 'probe'): TestedTree {
  return [tree, commands, scope].filter((part) => part !== undefined).join(' ');
}

type TestedCode = Pick<UploadFacts, 'sha' | 'tree' | 'job'>;

/** One job tested one commit or one tree twice. */
export function isSameCode(one: TestedCode, other: TestedCode): boolean {
  return one.job === other.job && (one.sha === other.sha || (one.tree !== null && one.tree === other.tree));
}

/** One execution of one test within an upload. */
export interface ObservedRun {
  readonly conclusion: Conclusion;
  readonly startedAt: Instant;
  readonly durationMs: number | null;
  /** The report's own attempt number, if it has one. */
  readonly attempt: number | null;
  /**
   * Set on a failing child of a case (`flakyFailure`, `rerunFailure`): how the case itself ended. Null: a case of its
   * own.
   */
  readonly rerunOf: 'SUCCESS' | 'FAILURE' | null;
  /** The suites around it below the outermost one; null or absent: unknown. */
  readonly path?: string | null;
}

/**
 * The outcome of the same test in another upload of the same job and the same commit or tree. Uploads that are evidence
 * for nothing are left out.
 */
export interface EarlierOutcome extends Pick<UploadFacts, 'sha' | 'tree' | 'candidateId'> {
  readonly uploadId: string;
  readonly branch: string;
  readonly prNumber: number | null;
  readonly jobAttempt: number | null;
  /** True if it failed in that upload at least once; otherwise it only passed. */
  readonly hasFailed: boolean;
  /** The latest run there that failed; if none failed, the latest one. */
  readonly at: Instant;
  /** The paths that failed there; absent, or null among them: unknown. */
  readonly failedPaths?: readonly (string | null)[];
}

/** An upload in which a test had one of two outcomes. */
export interface OutcomeRef extends Pick<UploadFacts, 'sha' | 'candidateId' | 'jobAttempt'> {
  readonly uploadId: string;
}

/** Uploads of one job are parts of one run if CI reports them as the same attempt on a commit. */
export function isSameRun(one: RunParts, other: RunParts): boolean {
  return one.sha === other.sha && one.jobAttempt !== null && one.jobAttempt === other.jobAttempt;
}

type RunParts = Pick<UploadFacts, 'sha' | 'jobAttempt'>;

/** A run as evidence shows it. */
export interface RunRef {
  readonly at: Instant;
  readonly sha: string;
  readonly branch: string;
  readonly job: string;
  readonly prNumber: number | null;
  readonly uploadId: string;
  /** Absent: unknown. */
  readonly path?: string | null;
  /** Of a retry: the tree that both outcomes are of. Absent: unknown. */
  readonly tree?: string;
  /** Of a retry in two uploads. Absent: in one upload, or found by 0.2.0 or before. */
  readonly failed?: OutcomeRef;
  readonly passed?: OutcomeRef;
}

export function refOf(upload: UploadFacts, at: Instant, path?: string | null): RunRef {
  const { sha, branch, job, prNumber, id } = upload;
  const ref = { at, sha, branch, job, prNumber, uploadId: id };
  return path === undefined || path === null ? ref : { ...ref, path };
}

/** Latest first. Ties are ordered independently of arrival. */
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

/** Merges both and keeps the latest `limit`. Returns the same list if the new ones change nothing. */
export function keepLatest<Ref extends RunRef>(
  kept: readonly Ref[],
  added: readonly Ref[],
  limit: number,
): readonly Ref[] {
  if (added.length === 0) return kept;
  return [...kept, ...added].sort(compareRefs).slice(0, limit);
}

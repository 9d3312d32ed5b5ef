import type { ObservedRun } from './run.ts';

/** Off unless somebody switched it on. */
export interface InfrastructureProtection {
  readonly isEnabled: boolean;
  /** A fraction of the tests of an upload. */
  readonly failureThreshold: number;
}

/** A test that failed and did not pass. Undefined where it did not run. */
export function hasFailed(runs: readonly ObservedRun[]): boolean | undefined {
  const ran = runs.filter((run) => run.conclusion !== 'SKIPPED');
  if (ran.length === 0) return undefined;
  return ran.every((run) => run.conclusion === 'FAILURE');
}

/**
 * Where nearly everything fails, not the tests but what they run on has failed: nothing of the upload counts. Exactly
 * the threshold still counts.
 */
export function isInfrastructureFailure(
  counts: { readonly ran: number; readonly failed: number },
  { isEnabled, failureThreshold }: InfrastructureProtection,
): boolean {
  return isEnabled && counts.ran > 0 && counts.failed / counts.ran > failureThreshold;
}

import type { Candidate } from './candidate.ts';
import { type CheckVerdict, verdictOfCheck } from './check.ts';

/**
 * The combined verdict of the required checks. One inconclusive check does not end the wait, because another may still
 * fail.
 */
// SPEC V1
export function verdictOf(candidate: Candidate): CheckVerdict {
  const { required, checks } = candidate;
  if (required === undefined) return 'pending';
  const verdicts = required.names.map((name) => verdictOfCheck(checks.find((check) => check.name === name)));
  if (verdicts.includes('failed')) return 'failed';
  if (verdicts.includes('pending')) return 'pending';
  return verdicts.includes('inconclusive') ? 'inconclusive' : 'passed';
}

/** The required checks that failed or, if none did, those that were inconclusive. */
export function failedChecks({ required, checks }: Candidate): string[] {
  const having = (verdict: CheckVerdict) =>
    (required?.names ?? []).filter((name) => verdictOfCheck(checks.find((check) => check.name === name)) === verdict);
  const failed = having('failed');
  return failed.length > 0 ? failed : having('inconclusive');
}

/** A failed check runs again, so the failure is open. This also holds while the candidate waits for a slot. */
export function isRunAgain(candidate: Candidate): boolean {
  return (
    candidate.state === 'failed' &&
    candidate.failure?.reason === 'TEST_RUN_REQUIRED_STATUS_FAILED' &&
    candidate.failure.checks.length > 0 &&
    verdictOf(candidate) === 'pending'
  );
}

export function openChecks({ required, checks }: Candidate): string[] {
  return (required?.names ?? []).filter(
    (name) => verdictOfCheck(checks.find((check) => check.name === name)) === 'pending',
  );
}

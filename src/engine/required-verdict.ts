import type { Candidate } from './candidate.ts';
import { type CheckVerdict, verdictOfCheck } from './check.ts';

/** What the required checks say together. They are awaited even when one is inconclusive: another may fail for real. */
export function verdictOf(candidate: Candidate): CheckVerdict {
  const { required, checks } = candidate;
  if (required === undefined) return 'pending';
  const verdicts = required.names.map((name) => verdictOfCheck(checks.find((check) => check.name === name)));
  if (verdicts.includes('failed')) return 'failed';
  if (verdicts.includes('pending')) return 'pending';
  return verdicts.includes('inconclusive') ? 'inconclusive' : 'passed';
}

/** The required checks that failed or, where none did, those without a usable answer. */
export function failedChecks({ required, checks }: Candidate): string[] {
  const having = (verdict: CheckVerdict) =>
    (required?.names ?? []).filter((name) => verdictOfCheck(checks.find((check) => check.name === name)) === verdict);
  const failed = having('failed');
  return failed.length > 0 ? failed : having('inconclusive');
}

/** Its failed check is being run again: whether it failed is open, also while it waits for a slot. */
export function isRunAgain(candidate: Candidate): boolean {
  return (
    candidate.state === 'failed' &&
    candidate.failure?.reason === 'TEST_RUN_REQUIRED_STATUS_FAILED' &&
    candidate.failure.checks.length > 0 &&
    verdictOf(candidate) === 'pending'
  );
}

/** The required checks that have not reported a result. */
export function openChecks({ required, checks }: Candidate): string[] {
  return (required?.names ?? []).filter(
    (name) => verdictOfCheck(checks.find((check) => check.name === name)) === 'pending',
  );
}

import type { Candidate } from './candidate.ts';
import { JUDGEMENT_MS } from './judgement.ts';

/** How long after the results of a check its reports were there, in the last runs that landed. */
export interface ReportDelays {
  readonly check: string;
  /** The newest last; null: the run had no reports. */
  readonly delaysMs: readonly (number | null)[];
}

const REMEMBERED_RUNS = 20;

/** Reports of a passed check are waited for as long as they usually take, and not at all where none came lately. */
// SPEC V58
export function reportDelayMs(delaysOfAll: readonly ReportDelays[], name: string): number {
  const known = delaysOfAll.find(({ check }) => check === name)?.delaysMs ?? [];
  const delays = known.filter((ms) => ms !== null).toSorted((a, b) => a - b);
  return Math.min(JUDGEMENT_MS, delays[Math.ceil(delays.length * 0.95) - 1] ?? 0);
}

export function noteReportDelays(
  delaysOfAll: readonly ReportDelays[],
  { checks, required, pass }: Candidate,
): readonly ReportDelays[] {
  if (pass?.by !== 'own_run' || !checks.some(({ hasUploads }) => hasUploads === true)) return delaysOfAll;
  return (required?.names ?? []).map((check) => {
    const known = delaysOfAll.find((other) => other.check === check)?.delaysMs ?? [];
    const last = checks.find(({ name }) => name === check)?.reportsAfterMs ?? null;
    return { check, delaysMs: [...known, last].slice(-REMEMBERED_RUNS) };
  });
}

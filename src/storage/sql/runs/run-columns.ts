import { RUN_CONCLUSIONS, type RunConclusion } from '../../tests.ts';

/**
 * Runs as columns: reading hundreds of thousands of them makes no object for each. A run's place in its columns is its
 * order of storing within its test.
 */
export interface RunColumns {
  readonly testNo: number[];
  readonly seq: number[];
  readonly branchNo: number[];
  readonly startedAt: number[];
  /** The conclusion's place in RUN_CONCLUSIONS, and QUARANTINED. */
  readonly flags: number[];
  /** Microseconds; NO_DURATION where nobody said. */
  readonly duration: number[];
}

export const NO_DURATION = -1;
export const CONCLUSION_MASK = 3;
export const QUARANTINED = 4;
export const SUCCESS = RUN_CONCLUSIONS.indexOf('SUCCESS');
export const FAILURE = RUN_CONCLUSIONS.indexOf('FAILURE');
export const SKIPPED = RUN_CONCLUSIONS.indexOf('SKIPPED');

export function emptyColumns(): RunColumns {
  return { testNo: [], seq: [], branchNo: [], startedAt: [], flags: [], duration: [] };
}

export function copyRun(from: RunColumns, index: number, to: RunColumns): void {
  to.testNo.push(from.testNo[index] as number);
  to.seq.push(from.seq[index] as number);
  to.branchNo.push(from.branchNo[index] as number);
  to.startedAt.push(from.startedAt[index] as number);
  to.flags.push(from.flags[index] as number);
  to.duration.push(from.duration[index] as number);
}

export function conclusionAt({ flags }: RunColumns, index: number): RunConclusion {
  return RUN_CONCLUSIONS[(flags[index] as number) & CONCLUSION_MASK] as RunConclusion;
}

export function durationAt({ duration }: RunColumns, index: number): number | null {
  const microseconds = duration[index] as number;
  return microseconds === NO_DURATION ? null : microseconds / 1000;
}

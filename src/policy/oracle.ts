import { type Outcome, Referee } from './referee.ts';
import type { Workload } from './workload.ts';

/**
 * Knows every outcome in advance. It runs each change that can land once, all at the same time, and removes the others
 * on submission. No queue that waits for one run of each change is faster.
 */
export function runOracle(workload: Workload): Outcome {
  const referee = new Referee(workload);
  const isInBase = (number: number) => referee.landedAt.has(number);
  for (const { number, submittedAt, durationMs } of workload.changes) {
    const tested = { members: [number], beneath: [], isInBase };
    if (referee.findConflict(number, tested) !== undefined || !referee.isSound(tested)) {
      referee.remove(number, submittedAt);
      continue;
    }
    referee.runs += 1;
    referee.ciMs += durationMs;
    referee.land(number, submittedAt + durationMs + 2 * workload.chance.gitMs);
  }
  return referee;
}

import { type Outcome, Referee } from './referee.ts';
import type { Workload } from './workload.ts';

/** One change at a time, in order of submission, tested on the head. */
export function runSerial(workload: Workload): Outcome {
  const referee = new Referee(workload);
  const { gitMs } = workload.chance;
  const isInBase = (number: number) => referee.landedAt.has(number);
  let now = 0;
  for (const { number, submittedAt, durationMs } of workload.changes) {
    const tested = { members: [number], beneath: [], isInBase };
    now = Math.max(now, submittedAt) + gitMs;
    if (referee.findConflict(number, tested) !== undefined) {
      referee.remove(number, now);
      continue;
    }
    const passes = referee.beginRun(tested);
    referee.ciMs += durationMs;
    now += durationMs;
    if (!passes) referee.remove(number, now);
    else {
      now += gitMs;
      referee.land(number, now);
    }
  }
  return referee;
}

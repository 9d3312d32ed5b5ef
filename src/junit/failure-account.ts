/**
 * Accounts for every sign of failure in a report. A sign is a `failure` or `error` element, or a failure that a suite
 * declares. Each must belong to a case that is told as failing. A sign that is left over means that something failed which
 * no test stands for, and then nothing about the report may be excused.
 */
import type { Tally } from './declared-counts.ts';
import type { DeclaredCounts } from './junit-case.ts';

export interface FailureAccount {
  /** Elements that no failing case stands for. */
  stray(elements: number): void;
  /** A suite ended, closed or not; `agrees` is whether its own way to count explains what it declares. */
  endSuite(declared: DeclaredCounts, counts: { readonly before: Tally; readonly now: Tally }, agrees: boolean): void;
  /** At least so many failures belong to no failing case. */
  unaccounted(): number;
}

export function createFailureAccount(): FailureAccount {
  let elements = 0;
  let notFound = 0;
  return {
    stray(count) {
      elements += count;
    },
    endSuite(declared, { before, now }, agrees) {
      if (agrees) return;
      const found = Math.max(
        now.failures + now.errors - before.failures - before.errors,
        now.failedElements - before.failedElements,
      );
      const said = (declared.failures ?? 0) + (declared.errors ?? 0);
      // The suites around it declare the same failures again.
      notFound = Math.max(notFound, said - found);
    },
    unaccounted: () => elements + notFound,
  };
}

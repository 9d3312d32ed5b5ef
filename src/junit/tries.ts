/**
 * Which failures of a test stand, over all of its cases. A failed try is taken back only by a later try that passed, by the
 * report's own count. A pass at a later time takes nothing back: cases of one name may be several tests, as with parameters.
 */
export interface Tries {
  readonly lastFailed: number;
  readonly lastPassed: number;
}

const NEVER = Number.NEGATIVE_INFINITY;
/** A failure without a number is the last try, a pass without one is none. */
const UNCOUNTED_FAILURE = Number.POSITIVE_INFINITY;

export const NO_TRIES: Tries = { lastFailed: NEVER, lastPassed: NEVER };

export function noteTry(tries: Tries, run: { readonly hasFailed: boolean; readonly attempt: number | null }): Tries {
  const { lastFailed, lastPassed } = tries;
  if (run.hasFailed) return { lastFailed: Math.max(lastFailed, run.attempt ?? UNCOUNTED_FAILURE), lastPassed };
  return { lastFailed, lastPassed: Math.max(lastPassed, run.attempt ?? NEVER) };
}

export function failsInTheEnd({ lastFailed, lastPassed }: Tries): boolean {
  return lastFailed > NEVER && lastPassed <= lastFailed;
}

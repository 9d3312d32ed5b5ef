import { isSettledFailure, type Mark, marksOf } from '../line/marks.ts';
import { isUnread } from '../line/questions.ts';
import { isOfMachine } from '../model/blame.ts';
import { type Candidate, isUnderTest } from '../model/candidate.ts';
import { confirmationsNeeded, confirmationsOf } from '../model/learned.ts';
import { policyOf } from '../model/policy.ts';
import type { Queue } from '../model/queue.ts';
import type { Search } from '../model/search.ts';
import { type FailedTest, failedTestsOf, signsOfRun } from '../model/signature.ts';

/**
 * How often an entry has to fail again before it is removed. Only failures in the same test, or in the same check where
 * no test is known, confirm each other.
 */

/** Runs of its own that one submission gets. */
export const MOST_OWN_RUNS = 12;
/** An entry whose failing tests say nothing gets no more. */
export const MOST_RUNS_IN_FLAKY_TESTS = 5;

/** The failed runs of the first member alone on this base, oldest first. */
function failuresOfFirst(queue: Queue, search: Search): readonly Candidate[] {
  const [first] = marksOf(queue, search);
  if (first?.length !== 1) return [];
  const failed = first.runs.filter(
    (run) => isSettledFailure(run) && run.isControlled !== false && !isUnread(queue, run),
  );
  // A failure of the machine buys one more run on this base.
  const retried = policyOf(queue).confirms ? failed.find(isOfMachine) : undefined;
  return failed.filter((run) => run !== retried);
}

/** It may still confirm a failure. */
export function isOpen(queue: Queue, run: Candidate): boolean {
  return isUnderTest(run) || run.state === 'waiting' || isUnread(queue, run);
}

export interface Doubt {
  /** The failures that agree, those of the group among them. */
  readonly failures: number;
  /** Those of them that were runs of its own. */
  readonly alone: number;
  /** The test in which they agree, if one is known. */
  readonly test?: FailedTest | undefined;
  /** How many more it takes. Infinite if the tests fail too often to say anything. */
  readonly missing: number;
}

/** Most steps change nothing that the doubt depends on. */
const known = new WeakMap<readonly Mark[], { readonly doubt: Doubt } & Pick<Queue, 'learned' | 'settings'>>();

export function doubtOf(queue: Queue, search: Search): Doubt {
  const { learned, settings } = queue;
  const marks = marksOf(queue, search);
  const last = known.get(marks);
  if (last?.learned === learned && last.settings === settings) return last.doubt;
  const doubt = findDoubt(queue, search);
  known.set(marks, { doubt, learned, settings });
  return doubt;
}

// SPEC V66, V67, V70
function findDoubt(queue: Queue, search: Search): Doubt {
  const runs = failuresOfFirst(queue, search);
  const last = runs.at(-1);
  if (!policyOf(queue).confirms) return { failures: runs.length, alone: runs.length, missing: runs.length > 0 ? 0 : 1 };
  if (last === undefined) return { failures: 0, alone: 0, missing: 1 + confirmationsNeeded(queue.learned) };
  const tests = new Map(failedTestsOf(last).map((test) => [test.id, test]));
  const own = runs.map(signsOfRun);
  let best: Doubt = { failures: 0, alone: 0, test: failedTestsOf(last)[0], missing: Number.POSITIVE_INFINITY };
  for (const sign of signsOfRun(last)) {
    const alone = own.filter((signs) => signs.includes(sign)).length;
    const failures = alone + (search.signs?.includes(sign) ? 1 : 0);
    const test = tests.get(sign);
    const needed = test === undefined ? confirmationsNeeded(queue.learned) : neededFor(queue, test);
    const missing = Math.max(0, 1 + needed - failures);
    if (missing < best.missing) best = { failures, alone, test, missing };
  }
  return best;
}

/** A test that the branch does not know came with the entry, and it has no record. */
function neededFor({ learned }: Queue, { id, isNew }: { readonly id: string; readonly isNew?: true }): number {
  return isNew === true ? Math.min(1, confirmationsOf(learned, id)) : confirmationsOf(learned, id);
}

/** No more runs of its own would tell. */
// SPEC V71
export function isUndecidable(queue: Queue, search: Search, ownRuns: number): boolean {
  const { missing } = doubtOf(queue, search);
  if (missing <= 0) return false;
  return ownRuns >= (Number.isFinite(missing) ? MOST_OWN_RUNS : MOST_RUNS_IN_FLAKY_TESTS);
}

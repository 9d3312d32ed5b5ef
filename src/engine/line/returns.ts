import type { Candidate, Failure } from '../model/candidate.ts';
import { WAITING } from '../model/place.ts';
import { policyOf } from '../model/policy.ts';
import type { Entry } from '../model/queue.ts';
import { failedTestsOf } from '../model/signature.ts';
import { amend, type Work } from '../model/work.ts';

/**
 * A test that fails without an entry, on a tree that passes, is no fault of the entry. An entry that was removed for
 * such tests alone returns to its place, as if the branch had been to blame.
 */

const KEPT_FOR_MS = 24 * 60 * 60_000;
/** The queue stores these, so the list is bounded. */
const MAX_KEPT = 100;

/** Remembers for which tests an entry is removed. A submission that has returned does not return again. */
// SPEC V79
export function noteTestRemoval(work: Work, entry: Entry, run: Candidate, failure: Failure): void {
  const tests = failedTestsOf(run).map(({ id }) => id);
  if (tests.length === 0 || !policyOf(work.queue).confirms) return;
  const kept = work.queue.removals.filter((removal) => removal.failure.at > work.at - KEPT_FOR_MS);
  if (kept.some((other) => other.entry.submission === entry.submission)) return;
  amend(work, { removals: [...kept, { entry: removedEntry(entry), failure, tests }].slice(-MAX_KEPT) });
}

/** Lists of targets are long. They are read again if the entry returns. */
export function removedEntry(entry: Entry): Entry {
  return { ...entry, state: 'FAILED', place: WAITING, targets: undefined };
}

/** These runs failed, and their trees passed. */
// SPEC V79
export function returnForFlakes(work: Work, flakes: readonly Candidate[]): void {
  const { removals, returning } = work.queue;
  const shown = new Set(flakes.flatMap((run) => failedTestsOf(run).map(({ id }) => id)));
  const isShown = (test: string) => shown.has(test);
  const touched = removals.filter(({ tests }) => tests.some(isShown));
  if (touched.length === 0) return;
  const left = touched.map((removal) => ({ ...removal, tests: removal.tests.filter((test) => !isShown(test)) }));
  const others = removals.filter((removal) => !touched.includes(removal));
  const cleared = left.filter(({ tests, failure }) => tests.length === 0 && failure.at > work.at - KEPT_FOR_MS);
  amend(work, { removals: [...others, ...left], returning: [...returning, ...cleared] });
  for (const { entry } of cleared)
    work.effects.push({ kind: 'readmit_entry', prNumber: entry.prNumber, submission: entry.submission });
}

import type { Candidate, CandidateNumber } from './candidate.ts';
import { type Entry, findCandidate, type Queue } from './queue.ts';
import { lineOf, stateUnder, unlanded } from './roster.ts';
import { move, type Work } from './work.ts';

/**
 * Optimistic merging: a pass covers exactly what was in the tree that passed, so the entries ahead that are in it have
 * passed with it and land with it. Who vouches for whom follows from the passed candidates and is stored nowhere.
 */

/** Its pass covers everything in it. A waived pass shows that it may land, not that everything beneath it works. */
export function mayVouch({ settings, landing }: Queue, { state, pass, number }: Candidate): boolean {
  if (state !== 'passed' || pass?.waived !== undefined) return false;
  // A landing that has begun ends as it was planned, whatever the setting becomes.
  return settings.canOptimisticallyMerge || (landing?.candidate === number && landing.isBegun);
}

/** The first candidate of the line that vouches for an entry whose own run has not passed; it lands them together. */
export function voucherOf(queue: Queue, entry: Entry): CandidateNumber | undefined {
  if (entry.candidate === undefined) return undefined;
  const covering = coverOf(queue).get(entry.submission);
  if (covering === undefined || findCandidate(queue, entry.candidate)?.state === 'passed') return undefined;
  return covering.find((candidate) => mayVouch(queue, candidate))?.number;
}

type Cover = ReadonlyMap<number, readonly Candidate[]>;

/** A set of candidates never changes, it is replaced. */
const covers = new WeakMap<Queue['candidates'], Cover>();

/** The passed candidates of the line that contain an entry beneath their members, by submission. */
function coverOf(queue: Queue): Cover {
  const known = covers.get(queue.candidates);
  if (known !== undefined) return known;
  const cover = new Map<number, Candidate[]>();
  for (const candidate of lineOf(queue)) {
    if (candidate.state !== 'passed') continue;
    for (const { submission } of candidate.beneath) {
      const covering = cover.get(submission);
      if (covering === undefined) cover.set(submission, [candidate]);
      else covering.push(candidate);
    }
  }
  covers.set(queue.candidates, cover);
  return cover;
}

/** Brings the states of entries in line with the passes that cover them now. */
export function settleVouches(work: Work): void {
  const { queue, before } = work;
  const mayDiffer = [queue, before].some(({ settings }) => settings.canOptimisticallyMerge);
  if (!mayDiffer && queue.landing === before.landing) return;
  for (const candidate of lineOf(work.queue)) {
    if (candidate.state === 'passed') continue;
    for (const entry of unlanded(work.queue, candidate.members)) {
      const voucher = voucherOf(work.queue, entry);
      const state = voucher === undefined ? stateUnder(candidate) : 'TESTS_PASSED';
      if (entry.state === state) continue;
      if (voucher === undefined)
        move(work, entry, { ...entry.because, to: state, reason: 'SUCCESSOR_TEST_RUN_WITHDRAWN' });
      else move(work, entry, { to: state, reason: 'SUCCESSOR_TEST_RUN_PASSED', candidate: voucher });
    }
  }
}

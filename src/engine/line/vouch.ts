import type { Candidate, CandidateNumber } from '../model/candidate.ts';
import { policyOf } from '../model/policy.ts';
import { type Entry, ownRunOf, type Queue } from '../model/queue.ts';
import { lineOf, unlanded } from '../model/roster.ts';

/**
 * Optimistic merging. A pass covers everything in the tree that passed, so the entries beneath have passed too and land
 * together with it. Vouches are derived from the passed candidates and never stored.
 */

/** A pass by a waiver shows that the candidate may land. It does not show that everything beneath it works. */
// SPEC V47
export function mayVouch(queue: Queue, { state, pass, number }: Candidate): boolean {
  if (state !== 'passed' || pass?.waived !== undefined) return false;
  // A landing that has begun finishes as planned, even if the setting changes meanwhile.
  const { landing } = queue;
  return policyOf(queue).canOptimisticallyMerge || (landing?.candidate === number && landing.isBegun);
}

/** The first candidate of the line that vouches for an entry whose own run has not passed. It lands both together. */
// SPEC V30
export function voucherOf(queue: Queue, entry: Entry): CandidateNumber | undefined {
  if (entry.place.kind !== 'line') return undefined;
  const covering = coverOf(queue).get(entry.submission);
  if (covering === undefined || ownRunOf(queue, entry)?.state === 'passed') return undefined;
  return covering.find((candidate) => mayVouch(queue, candidate))?.number;
}

type Cover = ReadonlyMap<number, readonly Candidate[]>;

/** The map of candidates is immutable, so its cover can be cached by identity. */
const covers = new WeakMap<Queue['candidates'], Cover>();

/** The passed candidates of the line that contain an entry beneath their members, by submission number. */
// SPEC V8
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

/** It failed, and no passed successor vouches for it. */
export function isFailure(queue: Queue, candidate: Candidate): boolean {
  return (
    candidate.state === 'failed' && unlanded(queue, candidate.members).some((e) => voucherOf(queue, e) === undefined)
  );
}

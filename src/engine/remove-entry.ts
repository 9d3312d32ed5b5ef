import { removeFromBisections } from './bisection-runs.ts';
import { takeOut } from './line.ts';
import type { PrNumber } from './pull-request.ts';
import type { Because, Entry, EntryState } from './queue.ts';
import { entryOf, keep, type Move, move, type Work } from './work.ts';

/**
 * Takes an entry out of the queue other than by landing it. What was tested together with it, or on top of it, is worth
 * nothing any more; what was set aside because of it is tried again.
 */
export function removeEntry(work: Work, entry: Entry, end: Move): void {
  const because: Because = { reason: prerequisiteReason(end.to), prNumber: entry.prNumber };
  takeOut(work, [entry], because);
  removeFromBisections(work, entry, because);
  move(work, { ...entry, candidate: undefined, setAside: undefined, bisection: undefined }, end);
  releaseSetAside(work, entry.prNumber);
}

/** The entry that stood in the way is gone: those that waited for that stand in the line again. */
export function releaseSetAside(work: Work, culprit: PrNumber): void {
  for (const chunk of work.queue.index.aside.chunks) {
    for (const { value: prNumber } of chunk) {
      const entry = entryOf(work, prNumber);
      if (entry.setAside === culprit) keep(work, { ...entry, setAside: undefined });
    }
  }
}

function prerequisiteReason(to: EntryState): Because['reason'] {
  if (to === 'FAILED') return 'PREREQUISITE_MERGE_ITEM_FAILED';
  return to === 'MERGED' ? 'PREREQUISITE_MERGE_ITEM_MANUALLY_MERGED' : 'PREREQUISITE_MERGE_ITEM_CANCELLED';
}

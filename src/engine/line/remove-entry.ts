import { WAITING } from '../model/place.ts';
import type { Because, Entry } from '../model/queue.ts';
import { type Move, move, type Work } from '../model/work.ts';
import { takeOut } from './line.ts';
import { leaveSearches } from './search-runs.ts';

/** Takes an entry out of the queue in another way than landing it. Results of candidates that contain it are void. */
// SPEC V27
export function removeEntry(work: Work, entry: Entry, end: Move): void {
  const because: Because = { reason: prerequisiteReason(end), prNumber: entry.prNumber };
  takeOut(work, [entry], because);
  leaveSearches(work, entry, because);
  move(work, { ...entry, place: WAITING }, end);
}

function prerequisiteReason({ to, reason }: Move): Because['reason'] {
  if (reason === 'MERGE_GRAPH_MERGE') return 'TARGET_BRANCH_MOVED';
  if (to === 'FAILED') return 'PREREQUISITE_MERGE_ITEM_FAILED';
  return to === 'MERGED' ? 'PREREQUISITE_MERGE_ITEM_MANUALLY_MERGED' : 'PREREQUISITE_MERGE_ITEM_CANCELLED';
}

import { present } from '../../lib/present.ts';
import { WAITING } from '../model/place.ts';
import { type Because, type Entry, findEntry, isAdmitted, isLanding } from '../model/queue.ts';
import { entriesAbove, outOfLine } from '../model/stack.ts';
import { entryOf, keep, type Move, move, type Work } from '../model/work.ts';
import { takeOut } from './line.ts';
import { leaveSearches } from './search-runs.ts';

/** Takes an entry out of the queue in another way than landing it. Results of candidates that contain it are void. */
// SPEC V27
export function removeEntry(work: Work, entry: Entry, end: Move): void {
  const because: Because = { reason: prerequisiteReason(end), prNumber: entry.prNumber };
  takeOut(work, [entry], because);
  leaveSearches(work, entry, because);
  move(work, { ...entry, place: WAITING }, end);
  if (end.to !== 'MERGED') leaveLineAbove(work, entry);
}

/** Those above it cannot be tested without it. They keep their places, and wait until it is back. */
// SPEC O35
function leaveLineAbove(work: Work, { prNumber }: Entry): void {
  for (const above of entriesAbove(work.queue, prNumber)) {
    if (!isAdmitted(above)) {
      keep(work, { ...above, unreadySince: work.at });
      leaveLineAbove(work, above);
      continue;
    }
    if (isLanding(work.queue, above)) continue;
    const because: Because = { reason: 'STACKED_PR_BELOW_LEFT', prNumber };
    leaveLine(work, above, because, { to: 'NOT_READY', ...because });
  }
}

/** It keeps its place. Others are told `because`. */
export function leaveLine(work: Work, { prNumber }: Entry, because: Because, why: Move): void {
  takeOut(work, [entryOf(work, prNumber)], because);
  leaveSearches(work, entryOf(work, prNumber), because);
  const entry = entryOf(work, prNumber);
  move(work, outOfLine(entry, work.at), why);
  leaveLineAbove(work, entry);
}

/** It passed, and leaves before it lands. */
// SPEC V81
export function removeNewFlakes(work: Work): void {
  if (work.queue.settings.newFlakes !== 'REMOVE') return;
  for (const { prNumber } of work.queue.newFlakes) {
    const entry = findEntry(work.queue, prNumber);
    if (entry === undefined || entry.newFlakes.length === 0 || isLanding(work.queue, entry)) continue;
    const run = entry.place.kind === 'line' ? entry.place.candidate : undefined;
    removeEntry(work, entry, {
      to: 'FAILED',
      reason: 'TEST_RUN_NEW_FLAKES',
      cause: 'TESTS',
      ...present({ candidate: run }),
    });
  }
}

function prerequisiteReason({ to, reason }: Move): Because['reason'] {
  if (reason === 'MERGE_GRAPH_MERGE') return 'TARGET_BRANCH_MOVED';
  if (to === 'FAILED') return 'PREREQUISITE_MERGE_ITEM_FAILED';
  return to === 'MERGED' ? 'PREREQUISITE_MERGE_ITEM_MANUALLY_MERGED' : 'PREREQUISITE_MERGE_ITEM_CANCELLED';
}

import { type Candidate, contains } from '../model/candidate.ts';
import { footprintOf, targetsOf } from '../model/footprint.ts';
import { type Entry, ownRunOf, type Queue } from '../model/queue.ts';
import { composedWithOf, lineOf, unlanded } from '../model/roster.ts';
import { entriesAbove } from '../model/stack.ts';
import { type ImpactedTargets, isOutranked } from '../model/targets.ts';
import { entryOf, keep, stillLive, type Work } from '../model/work.ts';
import { abandon } from './line.ts';

/**
 * Sets new targets of an entry, which those on it impact too. In the line they apply at once: candidates that would be
 * built differently now are abandoned.
 */
// SPEC C24
export function retarget(work: Work, entry: Entry, targets: ImpactedTargets): void {
  if (isOutranked(targets, entry.targets)) return;
  const before = withAbove(work.queue, entry).map((each) => ({ each, targets: targetsOf(work.queue, each) }));
  keep(work, { ...entry, targets });
  if (work.queue.settings.mode === 'SINGLE') return;
  for (const { each, targets: old } of before) realign(work, entryOf(work, each.prNumber), old);
}

function withAbove(queue: Queue, entry: Entry): readonly Entry[] {
  return [entry, ...entriesAbove(queue, entry.prNumber).flatMap((above) => withAbove(queue, above))];
}

function realign(work: Work, entry: Entry, before: ImpactedTargets): void {
  const targets = targetsOf(work.queue, entry);
  const own = ownRunOf(work.queue, entry);
  if (own === undefined || isSame(before, targets)) return;
  const because = { reason: 'IMPACTED_TARGETS_CHANGED' as const, prNumber: entry.prNumber };
  // Entries that landed beside it were disjoint from its old targets. Whether they are from the new ones is not stored.
  if (composedWithOf(work.queue, own).length > 0 || findMissing(work.queue, own) !== undefined) {
    abandon(work, own, because);
    return;
  }
  for (const later of stillLive(work, lineOf(work.queue))) {
    if (later.place <= own.place || contains(later, entry.prNumber)) continue;
    if (footprintOf(work.queue, later.members).overlaps(targets)) abandon(work, later, because);
  }
}

function isSame(a: ImpactedTargets, b: ImpactedTargets): boolean {
  if (a.kind === 'all' || b.kind === 'all') return a.kind === b.kind;
  return a.digest === b.digest && a.count === b.count;
}

/** Checks the whole line after a landing, because new targets cannot apply while their entry is landing. */
export function retargetLanded(work: Work): void {
  for (const candidate of stillLive(work, lineOf(work.queue))) {
    const missing = findMissing(work.queue, candidate);
    if (missing === undefined) continue;
    abandon(work, candidate, { reason: 'IMPACTED_TARGETS_CHANGED', prNumber: missing.prNumber });
  }
}

/** An entry ahead that overlaps with the candidate's members and is not in the candidate. */
function findMissing(queue: Queue, candidate: Candidate): Entry | undefined {
  const footprint = footprintOf(queue, candidate.members);
  return lineOf(queue)
    .filter(({ place }) => place < candidate.place)
    .flatMap((other) => unlanded(queue, other.members))
    .find((ahead) => !contains(candidate, ahead.prNumber) && footprint.overlaps(targetsOf(queue, ahead)));
}

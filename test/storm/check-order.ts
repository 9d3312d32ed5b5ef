import type { EntryView } from '../../src/app/queue/entry-view.ts';
import type { Line, PlannedChange } from './plan.ts';
import type { Violations } from './verdict.ts';

/** Entries with these reasons let others pass until their cause is gone. */
const STEPPED_ASIDE = ['CONFLICTS_WITH_PREREQUISITE', 'BISECTION_REQUIRED', 'TARGET_BRANCH_RED'];

/** In single mode, the entry admitted first lands first, unless one had a priority or had to step aside. */
export function checkOrder(
  violations: Violations,
  {
    line,
    changes,
    entries,
  }: {
    readonly line: Line;
    readonly changes: readonly PlannedChange[];
    readonly entries: ReadonlyMap<number, EntryView>;
  },
): void {
  if (line.settings.mode !== 'SINGLE') return;
  const plain = changes
    .filter(({ priority }) => priority === undefined)
    .flatMap(({ number }) => entries.get(number) ?? [])
    .filter(
      ({ state, timeline = [] }) =>
        state === 'MERGED' && !timeline.some(({ reason }) => STEPPED_ASIDE.includes(reason)),
    )
    .map((entry) => ({ number: entry.prNumber, admittedAt: admissionOf(entry), landedAt: entry.landed?.at ?? '' }));
  for (const one of plain) {
    for (const other of plain) {
      const isWrong = one.admittedAt < other.admittedAt && one.landedAt > other.landedAt;
      violations.expect(
        !isWrong,
        `${line.branch}: #${one.number} was admitted before #${other.number} and landed after it`,
      );
    }
  }
}

/** The admission of the last submission. */
function admissionOf({ timeline = [] }: EntryView): string {
  return timeline.find(({ reason }) => reason === 'MERGE_ITEM_NOW_READY')?.at ?? '';
}

import type { EntryView } from '../../src/app/queue/entry-view.ts';
import { REASON_CODES } from '../../src/engine/model/reason.ts';
import type { Line, PlannedChange } from './plan.ts';
import type { Violations } from './verdict.ts';

const ENDED = ['MERGED', 'FAILED', 'CANCELLED'];

/** Every pull request landed once, or was removed for a reason that its kind and its author explain. */
export function checkEntries(
  violations: Violations,
  changes: readonly PlannedChange[],
  entries: ReadonlyMap<number, EntryView>,
): void {
  for (const change of changes) {
    const entry = entries.get(change.number);
    if (entry === undefined) violations.add(`#${change.number} was acknowledged, and is lost`);
    else checkEntry(violations, change, entry);
  }
  checkPartners(violations, changes, entries);
}

function checkEntry(violations: Violations, change: PlannedChange, entry: EntryView): void {
  const { state = '', timeline = [] } = entry;
  const [last] = timeline;
  const expect = (isSo: boolean, text: string) =>
    violations.expect(isSo, `#${change.number} (${change.kind}, ${change.twist}): ${text}`);
  expect(ENDED.includes(state), `is ${state} in the end`);
  expect(last?.state === state, `is ${state}, but its timeline ends with ${last?.state}`);
  expect(REASON_CODES.includes(last?.reason as never), `has no reason for ${state}`);
  const merges = timeline.filter((step) => step.state === 'MERGED').length;
  expect(merges === (state === 'MERGED' ? 1 : 0), `was merged ${merges} times`);
  expect(change.kind !== 'bad' || state !== 'MERGED', 'is MERGED although it fails');
  // An interruption by a crash is not a failure. Only its own failure removes a pull request.
  const mayBeRemoved =
    !['good', 'same_file'].includes(change.kind) || ['cancels_for_good', 'closes'].includes(change.twist);
  expect(mayBeRemoved || state === 'MERGED', `is ${state} for ${last?.reason}, although nothing is wrong with it`);
}

/** One of two changes that break or conflict together lands if both authors wanted to land until the end. */
function checkPartners(
  violations: Violations,
  changes: readonly PlannedChange[],
  entries: ReadonlyMap<number, EntryView>,
): void {
  const wantsTo = (change: PlannedChange) => !['cancels_for_good', 'closes'].includes(change.twist);
  for (const change of changes) {
    const partner = changes.find(({ number }) => number === change.partner);
    if (partner === undefined || partner.number < change.number || !wantsTo(change) || !wantsTo(partner)) continue;
    const merged = [change, partner].filter(({ number }) => entries.get(number)?.state === 'MERGED').length;
    // The author may have resolved the conflict.
    const isSo = change.kind === 'clash' ? merged >= 1 : merged === 1;
    violations.expect(isSo, `#${change.number} and #${partner.number} (${change.kind}): ${merged} of them landed`);
  }
}

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

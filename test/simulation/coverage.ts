import { FAULT_KINDS } from './faulty.ts';

/** Counts what happened. Over many runs, everything worth a test must have happened. */
export class Coverage {
  readonly counts = new Map<string, number>();

  note(what: string, times = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + times);
  }

  addAll(counts: Readonly<Record<string, number>>): void {
    for (const [what, times] of Object.entries(counts)) this.note(what, times);
  }

  toRecord(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.counts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

const STORE_FAULTS = ['refused', 'lost', 'crashBefore', 'crashAfter'];
const CI_FAULTS = ['flaky', 'blind', 'cancelled', 'lost', 'rerun', 'timeless', 'ahead'];
const COURIER_FAULTS = ['lost', 'doubled', 'late'];

const REASONS = `SKIP_THE_LINE_INTERRUPTED TEST_RUN_TIMEOUT TEST_RUN_INCONCLUSIVE TEST_RUN_FAILED_BY_OPTIMIZATION
  LANDING_NOT_COMPOSABLE PR_UPDATED_AT_MERGE_TIME PR_PUSHED_TO PR_BASE_BRANCH_CHANGED
  MANUAL_MERGE START_TEST_RUN_MERGE_CONFLICT PREREQUISITE_MERGE_ITEM_FAILED IMPACTED_TARGETS_CHANGED`.split(/\s+/);

/** If one of these is missing in a set of seeds, the set proves less than it claims. */
export const MUST_OCCUR: readonly string[] = [
  ...FAULT_KINDS.map((kind) => `forge.${kind}`),
  ...STORE_FAULTS.map((kind) => `store.queues.${kind}`),
  ...CI_FAULTS.map((kind) => `ci.${kind}`),
  ...COURIER_FAULTS.flatMap((kind) => [`hint.${kind}`, `report.${kind}`]),
  'clock jump',
  'stale commit',
  'crash after the push',
  'bisection',
  'vouch',
  'set aside',
  'red target',
  'twin',
  'reuse',
  'direct merge',
  'nothing required',
  'landed.IDENTICAL',
  'landed.SAME_TREE',
  'landed.COMPOSED',
  'alarm.FOREIGN_PUSH',
  'alarm.RED_TARGET',
  'alarm.TARGET_GONE',
  'mode switch',
  ...REASONS.map((reason) => `reason.${reason}`),
];

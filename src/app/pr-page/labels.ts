import type { EntryState } from '../../engine/queue.ts';

const LABELS: { readonly [State in EntryState]: string } = {
  NOT_READY: 'sluice-not-ready',
  PENDING: 'sluice-queued',
  TESTING: 'sluice-testing',
  TESTS_PASSED: 'sluice-tests-passed',
  PENDING_FAILURE: 'sluice-pending-failure',
  FAILED: 'sluice-failed',
  CANCELLED: 'sluice-cancelled',
  MERGED: 'sluice-merged',
};

export interface LabelQuestion {
  readonly state: EntryState;
  readonly isEnabled: boolean;
  /** State labels that we added and did not remove. */
  readonly known: readonly string[];
  /** A writer did not finish: any of them may be missing. */
  readonly isUnsure?: boolean;
}

/** A pull request with a state label keeps an up-to-date one, also after labels were switched off. */
// SPEC G53
export function stateLabelChange({ state, isEnabled, known, isUnsure = false }: LabelQuestion): {
  readonly add: readonly string[];
  readonly remove: readonly string[];
} {
  if (!isEnabled && known.length === 0) return { add: [], remove: [] };
  const wanted = LABELS[state];
  const isOn = known.includes(wanted) && !isUnsure;
  return { add: isOn ? [] : [wanted], remove: known.filter((label) => label !== wanted) };
}

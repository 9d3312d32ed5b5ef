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
  /** Those that we put on it and did not take off. */
  readonly known: readonly string[];
}

/** Once it has a state label, that follows the state, also after labels were switched off. */
export function stateLabelChange({ state, isEnabled, known }: LabelQuestion): {
  readonly add: readonly string[];
  readonly remove: readonly string[];
} {
  if (!isEnabled && known.length === 0) return { add: [], remove: [] };
  const wanted = LABELS[state];
  return { add: known.includes(wanted) ? [] : [wanted], remove: known.filter((label) => label !== wanted) };
}

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
  /** Somebody was about to change them: any of them may be missing. */
  readonly isUnsure?: boolean;
}

/** Once it has a state label, that follows the state, also after labels were switched off. */
export function stateLabelChange({ state, isEnabled, known, isUnsure = false }: LabelQuestion): {
  readonly add: readonly string[];
  readonly remove: readonly string[];
} {
  if (!isEnabled && known.length === 0) return { add: [], remove: [] };
  const wanted = LABELS[state];
  const isOn = known.includes(wanted) && !isUnsure;
  return { add: isOn ? [] : [wanted], remove: known.filter((label) => label !== wanted) };
}

import { labelsOf, setLabel as put } from '../../flaky/labels.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type Refusal, refuse } from '../core/refusal.ts';
import { type ActedTest, type ChangeTest, changeTest, type FoundTest } from './change-test.ts';
import type { TestDetailsView } from './test-details-view.ts';

/** Bounds the size of a stored test. */
const MAX_LABELS = 50;

export interface SetLabel extends ChangeTest {
  readonly label: string;
  readonly isOn: boolean;
}

export function setLabel(
  app: App,
  caller: Caller,
  input: SetLabel,
): Promise<{ readonly test: TestDetailsView } | Refusal> {
  return changeTest(app, caller, input, (found) => apply(found, input, caller.name));
}

function apply({ test, state, at }: FoundTest, { label, isOn }: SetLabel, actor: string): ActedTest | Refusal {
  const labelled = put(state, { label, isOn, actor, at });
  if (isOn && labelsOf(labelled.state).length > MAX_LABELS) {
    const message = `must be one of at most ${MAX_LABELS}: take another label away first`;
    return refuse('VALIDATION_FAILED', `label ${message}.`, [{ path: '/label', message }]);
  }
  return { test, ...labelled };
}

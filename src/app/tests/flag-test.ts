import { flag, unflag } from '../../flaky/acts.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type Refusal, refuse } from '../core/refusal.ts';
import { type ActedTest, type ChangeTest, changeTest, type FoundTest } from './change-test.ts';
import type { TestDetailsView } from './test-details-view.ts';

export interface FlagTest extends ChangeTest {
  readonly isFlagged: boolean;
  readonly reason: string | null;
}

export function flagTest(
  app: App,
  caller: Caller,
  input: FlagTest,
): Promise<{ readonly test: TestDetailsView } | Refusal> {
  return changeTest(app, caller, input, (found) => apply(found, input, caller.name));
}

function apply({ test, state, monitors, at }: FoundTest, input: FlagTest, actor: string): ActedTest | Refusal {
  if (!input.isFlagged) return { test, ...unflag(state, monitors, { actor, at }) };
  const flagged = flag(state, monitors, { actor, at, reason: input.reason });
  if (flagged.kind === 'refused') return refuse('TEST_NOT_FLAGGABLE', flagged.detail);
  return { test, state: flagged.state, events: flagged.events };
}

import type { Instant } from '../../lib/clock.ts';
import type { QuarantineOverride } from '../../storage/tests.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type Refusal, refuse } from '../core/refusal.ts';
import { type ActedTest, type ChangeTest, changeTest, type FoundTest } from './change-test.ts';
import type { TestDetailsView } from './test-details-view.ts';

export interface SetQuarantine extends ChangeTest {
  readonly setting: QuarantineOverride;
  readonly reason: string;
  /** Null: never. */
  readonly expiresAt: Instant | null;
}

export function setQuarantine(
  app: App,
  caller: Caller,
  input: SetQuarantine,
): Promise<{ readonly test: TestDetailsView } | Refusal> {
  return changeTest(app, caller, input, (found) => override(found, input, caller.name));
}

function override({ test, state, at }: FoundTest, input: SetQuarantine, actor: string): ActedTest | Refusal {
  const { setting, reason, expiresAt } = input;
  if (expiresAt !== null && setting === 'UNSPECIFIED') return badExpiry('goes with a decision, not with UNSPECIFIED');
  if (expiresAt !== null && expiresAt <= at) return badExpiry('must be in the future');
  const facts = setting === 'UNSPECIFIED' ? null : { actor, at, reason, expiresAt };
  const { quarantineOverride: from } = test;
  return {
    test: { ...test, quarantineOverride: setting, override: facts },
    state,
    events: [{ kind: 'override_changed', at, actor, ...{ from, to: setting, reason, expiresAt } }],
  };
}

function badExpiry(message: string): Refusal {
  return refuse('VALIDATION_FAILED', `expires_at ${message}.`, [{ path: '/expires_at', message }]);
}

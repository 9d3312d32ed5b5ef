import { mute, unmute } from '../../flaky/acts.ts';
import type { Instant } from '../../lib/clock.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type Refusal, refuse } from '../core/refusal.ts';
import { type ActedTest, type ChangeTest, changeTest, type FoundTest } from './change-test.ts';
import { monitorNotFound } from './set-monitor.ts';
import type { TestDetailsView } from './test-details-view.ts';

export interface MuteMonitor extends ChangeTest {
  readonly monitorId: string;
  readonly isMuted: boolean;
  /** Null: until it is unmuted. */
  readonly until: Instant | null;
  readonly reason: string | null;
}

export function muteMonitor(
  app: App,
  caller: Caller,
  input: MuteMonitor,
): Promise<{ readonly test: TestDetailsView } | Refusal> {
  return changeTest(app, caller, input, (found) => apply(found, input, caller.name));
}

function apply(found: FoundTest, input: MuteMonitor, actor: string): ActedTest | Refusal {
  const { test, state, monitors, settings, at } = found;
  const { monitorId, isMuted, until, reason } = input;
  if (!settings.monitors.some((monitor) => monitor.id === monitorId)) return monitorNotFound(monitorId);
  if (!isMuted && until !== null) return badUntil('goes with a mute, and this ends one');
  if (!isMuted) return { test, ...unmute(state, monitors, { actor, at, monitorId }) };
  if (until !== null && until <= at) return badUntil('must be in the future');
  const muted = mute(state, monitors, { actor, at, monitorId, until, reason });
  if (muted.kind === 'refused') return refuse('MONITOR_NOT_MUTABLE', muted.detail);
  return { test, state: muted.state, events: muted.events };
}

function badUntil(message: string): Refusal {
  return refuse('VALIDATION_FAILED', `until ${message}.`, [{ path: '/until', message }]);
}

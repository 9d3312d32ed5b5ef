/** Acts of people on a test. Each function returns the new state and the events for the test's history. */
import type { Instant } from '../lib/clock.ts';
import type { Monitor } from './core/monitor.ts';
import type { TestState } from './core/state.ts';
import { expire, settle } from './evaluate.ts';
import type { Changed, TestEvent } from './test-event.ts';

interface Act {
  readonly actor: string;
  readonly at: Instant;
}

export const MAX_FLAG_REASON_LENGTH = 256;

export type MuteOutcome =
  | ({ readonly kind: 'muted' } & Changed<TestState>)
  | { readonly kind: 'refused'; readonly detail: string };

/** A muted monitor keeps detecting, but its result does not count. `until: null` mutes it until a person unmutes it. */
// SPEC F14
export function mute(
  state: TestState,
  monitors: readonly Monitor[],
  act: Act & { readonly monitorId: string; readonly until: Instant | null; readonly reason: string | null },
): MuteOutcome {
  const { actor, at, monitorId, until, reason } = act;
  const own = state.monitors[monitorId];
  const monitor = monitors.find(({ id }) => id === monitorId);
  if (monitor === undefined || own === undefined || !own.wasActive) {
    return { kind: 'refused', detail: 'Only a monitor that has been active on the test can be muted.' };
  }
  if (until !== null && until <= at) return { kind: 'refused', detail: 'until must be in the future.' };
  const muted = {
    ...state,
    monitors: { ...state.monitors, [monitorId]: { ...own, mute: { at, until, actor, reason } } },
  };
  const monitorName = monitor.name;
  const events: readonly TestEvent[] = [{ kind: 'monitor_muted', at, actor, monitorId, monitorName, until, reason }];
  return { kind: 'muted', ...settle(muted, monitors, { at, actor, events }) };
}

export function unmute(
  state: TestState,
  monitors: readonly Monitor[],
  { actor, at, monitorId }: Act & { readonly monitorId: string },
): Changed<TestState> {
  const own = state.monitors[monitorId];
  const monitorName = monitors.find(({ id }) => id === monitorId)?.name;
  if (monitorName === undefined || own === undefined || own.mute === null) return { state, events: [] };
  const unmuted = { ...state, monitors: { ...state.monitors, [monitorId]: { ...own, mute: null } } };
  const ended: TestEvent = { kind: 'monitor_unmuted', at, actor, monitorId, monitorName, hasExpired: false };
  return settle(unmuted, monitors, { at, actor, events: [ended] });
}

/**
 * A broken test cannot be flagged: the flag would not show behind the worse status. An existing flag can be removed.
 */
// SPEC F15
export function flag(
  state: TestState,
  monitors: readonly Monitor[],
  { actor, at, reason }: Act & { readonly reason: string | null },
): ({ readonly kind: 'flagged' } & Changed<TestState>) | { readonly kind: 'refused'; readonly detail: string } {
  if (state.status === 'BROKEN') return { kind: 'refused', detail: 'The test is broken, which outranks a flag.' };
  if ((reason ?? '').length > MAX_FLAG_REASON_LENGTH) {
    return { kind: 'refused', detail: `reason must be at most ${MAX_FLAG_REASON_LENGTH} characters.` };
  }
  const events: readonly TestEvent[] = [{ kind: 'test_flagged', at, actor, reason }];
  return { kind: 'flagged', ...settle({ ...state, flag: { at, actor, reason } }, monitors, { at, actor, events }) };
}

export function unflag(state: TestState, monitors: readonly Monitor[], { actor, at }: Act): Changed<TestState> {
  if (state.flag === null) return { state, events: [] };
  const events: readonly TestEvent[] = [{ kind: 'test_unflagged', at, actor }];
  return settle({ ...state, flag: null }, monitors, { at, actor, events });
}

/**
 * Applies created, changed, disabled and deleted monitors; `next` lists all that remain. A monitor that is gone,
 * disabled or counts other runs now is resolved at once. A monitor with new limits or a new action decides again.
 */
// SPEC F16
export function changeMonitors(
  state: TestState,
  { before, next, actor, at }: Act & { readonly before: readonly Monitor[]; readonly next: readonly Monitor[] },
): Changed<TestState> {
  const events: TestEvent[] = [];
  let monitors = state.monitors;
  for (const old of before) {
    const own = monitors[old.id];
    const now = next.find((monitor) => monitor.id === old.id);
    const cause = causeOf(old, now);
    if (own === undefined || cause === undefined) continue;
    if (own.activeSince !== null) {
      const reason = `The monitor "${old.name}" was ${cause}${cause === 'changed' ? ' to count something else' : ''}.`;
      const { id: monitorId, name: monitorName, type } = old;
      events.push({ kind: 'monitor_resolved', at, actor, monitorId, monitorName, type, cause, reason });
    }
    const { [old.id]: _gone, ...others } = monitors;
    // A disabled monitor misses runs, so its old counts cannot be continued.
    const data = old.type === 'new_test' && now?.type === 'new_test' ? own.data : null;
    const kept = { ...own, data, activeSince: null, reason: '', evidence: null };
    monitors = cause === 'deleted' ? others : { ...others, [old.id]: kept };
  }
  const ended = settle({ ...state, monitors }, next, { at, actor, events, before });
  const looked = expire(ended.state, next, at);
  return { state: looked.state, events: [...ended.events, ...looked.events] };
}

/**
 * The monitors that start without counts. To apply one to stored runs, `fold` each upload within its window into the
 * state with these monitors only, then call `expire`. Pass on retry compares pairs of uploads, so it starts with new
 * uploads.
 */
export function monitorsToRefold(before: readonly Monitor[], next: readonly Monitor[]): readonly Monitor[] {
  return next.filter((monitor) => {
    const old = before.find(({ id }) => id === monitor.id);
    if (!monitor.enabled || monitor.type === 'new_test' || monitor.type === 'pass_on_retry') return false;
    return old === undefined || !old.enabled || countsSomethingElse(old, monitor);
  });
}

function causeOf(old: Monitor, now: Monitor | undefined): 'disabled' | 'deleted' | 'changed' | undefined {
  if (now === undefined) return 'deleted';
  if (!now.enabled) return old.enabled ? 'disabled' : undefined;
  return countsSomethingElse(old, now) ? 'changed' : undefined;
}

/**
 * New limits compare with the same counts. Other branches, windows or slow-test thresholds need new counts. Only pass
 * on retry keeps its findings when its branches change.
 */
// SPEC F48
function countsSomethingElse(old: Monitor, now: Monitor): boolean {
  if (old.type !== now.type) return true;
  if (now.type === 'pass_on_retry' || now.type === 'new_test') return false;
  return countedBy(old) !== countedBy(now);
}

function countedBy(monitor: Monitor): string {
  const { branches, parameters } = monitor;
  const kept = ['windowHours', 'windowMinutes', 'thresholdMs', 'failureCount', 'minimumSkippedCount'];
  const values = Object.entries(parameters).filter(([name]) => kept.includes(name));
  return JSON.stringify([branches, values]);
}

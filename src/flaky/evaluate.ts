import type { Instant } from '../lib/clock.ts';
import type { DetectorInput } from './core/detector.ts';
import { HEALTH_STATUSES, type HealthStatus, type Monitor, type MonitorType } from './core/monitor.ts';
import type { MonitorData, MonitorState, TestState } from './core/state.ts';
import { detectorOf } from './detectors/table.ts';
import { settleLabels } from './labels.ts';
import type { Changed, Contribution, TestEvent } from './test-event.ts';

/** Every monitor decides again at this instant. The result is in state and events. */
export function expire(state: TestState, monitors: readonly Monitor[], at: Instant): Changed<TestState> {
  return evaluate(state, { monitors, looking: monitors, at });
}

/** `looking` are the monitors that decide again; all monitors count for the status. */
// SPEC F6
export function evaluate(
  before: TestState,
  {
    monitors,
    looking,
    at,
  }: { readonly monitors: readonly Monitor[]; readonly looking: readonly Monitor[]; readonly at: Instant },
): Changed<TestState> {
  const events: TestEvent[] = [];
  let state = before;
  for (const monitor of looking) {
    const own = state.monitors[monitor.id];
    if (!monitor.enabled || own === undefined) continue;
    const next = decide(expireMute(own, monitor, at, events), monitor, situationOf(state, own, at), events);
    if (next !== own) state = { ...state, monitors: { ...state.monitors, [monitor.id]: next } };
  }
  // Status and labels follow from the monitors' decisions.
  if (state === before) return { state: withNextCheck(state, monitors, at), events };
  return settle(state, monitors, { at, actor: null, events });
}

/** Derives status, labels and the next check time after a change. */
export function settle(
  before: TestState,
  monitors: readonly Monitor[],
  change: {
    readonly at: Instant;
    readonly actor: string | null;
    readonly events: readonly TestEvent[];
    /** The monitors before the change, if it changed them. */
    readonly before?: readonly Monitor[];
  },
): Changed<TestState> {
  const { at, actor, events } = change;
  const speaking = (id: string) => change.before !== undefined || events.some((event) => isWordOf(event, id));
  const settled = settleStatus(before, monitors, { at, actor, cause: causeOf(events) });
  const labelled = settleLabels(settled.state, monitors, { at, speaking, gone: change.before ?? [] });
  const state = withNextCheck(labelled.state, monitors, at);
  const more = settled.event === undefined ? labelled.events : [settled.event, ...labelled.events];
  return { state, events: more.length === 0 ? events : [...events, ...more] };
}

function isWordOf(event: TestEvent, monitorId: string): boolean {
  const hasBegun = event.kind === 'monitor_activated' || event.kind === 'monitor_unmuted';
  return hasBegun && event.monitorId === monitorId;
}

function decide(own: MonitorState, monitor: Monitor, situation: DetectorInput, events: TestEvent[]): MonitorState {
  const data = dataOf(own, monitor);
  if (data === null) return own;
  const decision = detectorOf(monitor.type).decide(data, monitor, situation);
  const { id: monitorId, name: monitorName, type } = monitor;
  const common = { at: situation.at, actor: null, monitorId, monitorName, type };
  if (decision.kind === 'active') {
    const { reason, evidence } = decision;
    events.push({ kind: 'monitor_activated', ...common, reason, evidence });
    return { ...own, activeSince: situation.at, wasActive: true, reason, evidence };
  }
  if (decision.kind === 'inactive') {
    events.push({ kind: 'monitor_resolved', ...common, cause: decision.cause, reason: decision.reason });
    return { ...own, activeSince: null, reason: '', evidence: null };
  }
  return own;
}

/** The monitor's counts, if they were made under its present parameters. */
export function dataOf(own: MonitorState, monitor: Monitor): MonitorData[MonitorType] | null {
  if (own.data === null || own.type !== monitor.type) return null;
  return detectorOf(monitor.type).fits?.(own.data, monitor) === false ? null : own.data;
}

function expireMute(own: MonitorState, { id, name }: Monitor, at: Instant, events: TestEvent[]): MonitorState {
  if (own.mute === null || own.mute.until === null || own.mute.until > at) return own;
  events.push({ kind: 'monitor_unmuted', at, actor: null, monitorId: id, monitorName: name, hasExpired: true });
  return { ...own, mute: null };
}

function situationOf(state: TestState, own: MonitorState, at: Instant): DetectorInput {
  const { firstSeenAt, passingMultiplicities, jobs } = state;
  return { at, isActive: own.activeSince !== null, firstSeenAt, passingMultiplicities, jobs };
}

// SPEC F41
function withNextCheck(state: TestState, monitors: readonly Monitor[], at: Instant): TestState {
  let next = Number.POSITIVE_INFINITY;
  for (const monitor of monitors) {
    const own = state.monitors[monitor.id];
    if (!monitor.enabled || own === undefined) continue;
    const data = dataOf(own, monitor);
    const due = data === null ? null : detectorOf(monitor.type).nextAt(data, monitor, situationOf(state, own, at));
    next = Math.min(next, due ?? next, own.mute?.until ?? next);
  }
  const nextCheckAt = next === Number.POSITIVE_INFINITY ? null : next;
  return nextCheckAt === state.nextCheckAt ? state : { ...state, nextCheckAt };
}

/** The reason why a test is healthy again. */
function causeOf(events: readonly TestEvent[]): string {
  for (const event of events) {
    if (event.kind === 'monitor_resolved')
      return event.cause === 'stale' ? `Resolved as stale: ${event.reason}` : event.reason;
    if (event.kind === 'test_unflagged') return `${event.actor ?? 'Somebody'} took the flag away.`;
    if (event.kind === 'monitor_muted') return `${event.actor ?? 'Somebody'} muted the monitor "${event.monitorName}".`;
  }
  return 'Nothing classifies it any more.';
}

interface Vote extends Contribution {
  readonly status: HealthStatus;
  readonly reason: string;
  readonly since: Instant;
}

/** The sources that classify the test now: every active monitor that is enabled and not muted, and a person's flag. */
function votesOf(state: TestState, monitors: readonly Monitor[]): readonly Vote[] {
  const votes: Vote[] = [];
  for (const { id, type, enabled, action, name } of monitors) {
    const own = state.monitors[id];
    if (!enabled || action.kind !== 'classify' || own === undefined) continue;
    if (own.activeSince === null || own.mute !== null) continue;
    votes.push({
      monitorId: id,
      type,
      status: action.status,
      reason: `${name}: ${own.reason}`,
      since: own.activeSince,
    });
  }
  if (state.flag !== null) {
    const { actor, reason, at } = state.flag;
    const text = `Flagged as flaky by ${actor}${reason === null ? '.' : `: ${reason}`}`;
    votes.push({ monitorId: null, type: 'manual', status: 'FLAKY', reason: text, since: at });
  }
  return votes;
}

/** Writes history only if the combined status changes: a second monitor with the same result adds no event. */
// SPEC F13
function settleStatus(
  state: TestState,
  monitors: readonly Monitor[],
  change: { readonly at: Instant; readonly actor: string | null; readonly cause: string },
): { readonly state: TestState; readonly event: TestEvent | undefined } {
  const votes = votesOf(state, monitors);
  const to = votes.reduce<HealthStatus>((worst, vote) => moreSevere(worst, vote.status), 'HEALTHY');
  if (to === state.status) return { state, event: undefined };
  const loudest = votes.filter((vote) => vote.status === to).sort((one, other) => one.since - other.since);
  const reason = loudest[0]?.reason ?? change.cause;
  const event: TestEvent = {
    kind: 'status_changed',
    at: change.at,
    actor: change.actor,
    from: state.status,
    to,
    reason,
    active: votes.map(({ monitorId, type }) => ({ monitorId, type })),
  };
  return { state: { ...state, status: to, statusReason: reason, statusSince: change.at }, event };
}

function moreSevere(one: HealthStatus, other: HealthStatus): HealthStatus {
  return HEALTH_STATUSES.indexOf(other) > HEALTH_STATUSES.indexOf(one) ? other : one;
}

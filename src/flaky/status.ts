import type { Instant } from '../lib/clock.ts';
import { HEALTH_STATUSES, type HealthStatus, type Monitor } from './core/monitor.ts';
import type { TestState } from './core/state.ts';
import type { Contribution, TestEvent } from './test-event.ts';

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
export function settleStatus(
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

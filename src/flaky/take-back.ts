import type { Instant } from '../lib/clock.ts';
import type { Monitor } from './core/monitor.ts';
import { type MonitorState, newMonitorState, type TestState } from './core/state.ts';
import { expire, settle } from './evaluate.ts';
import { type PastRuns, replay } from './replay.ts';
import type { Changed, TestEvent } from './test-event.ts';

export interface TakenBack {
  readonly uploadId: string;
  /** When its runs were counted. Earlier detections do not follow from them. */
  readonly countedAt: Instant;
  readonly actor: string;
  readonly reason: string;
  readonly hasFailed: boolean;
}

/**
 * Withdraws an upload as evidence. Counts are rebuilt from the remaining uploads. A monitor that became active with the
 * upload or later, and that the remaining uploads do not activate, is resolved at once.
 */
// SPEC U77
export function takeBack(
  state: TestState,
  monitors: readonly Monitor[],
  of: { readonly past: readonly PastRuns[]; readonly taken: TakenBack; readonly at: Instant },
): Changed<TestState> {
  const { taken, at } = of;
  const { actor, uploadId, reason } = taken;
  const left = replay(state, monitors, { past: of.past, by: at });
  const events: TestEvent[] = [];
  const counted: Record<string, MonitorState> = { ...state.monitors };
  for (const monitor of monitors) {
    if (!monitor.enabled || monitor.type === 'new_test') continue;
    const own = state.monitors[monitor.id] ?? newMonitorState(monitor.type);
    const fresh = left.monitors[monitor.id] ?? newMonitorState(monitor.type);
    const isOver = own.activeSince !== null && fresh.activeSince === null && followsFrom(own, fresh, taken);
    if (isOver) events.push(resolvedBy(monitor, taken, at));
    const inactive = isOver ? { activeSince: null, reason: '', evidence: null } : {};
    counted[monitor.id] = { ...own, type: monitor.type, data: fresh.data, ...inactive };
  }
  if (events.length > 0 || taken.hasFailed) events.push({ kind: 'upload_ignored', at, actor, uploadId, reason });
  const settled = settle({ ...state, monitors: counted }, monitors, { at, actor, events });
  const looked = expire(settled.state, monitors, at);
  return { state: looked.state, events: [...settled.events, ...looked.events] };
}

function followsFrom(own: MonitorState, fresh: MonitorState, { countedAt }: TakenBack): boolean {
  return fresh.data === null || (own.activeSince ?? 0) >= countedAt;
}

function resolvedBy({ id, name, type }: Monitor, { actor, uploadId }: TakenBack, at: Instant): TestEvent {
  const reason = `The upload ${uploadId}, which it was detected by, was taken back.`;
  return {
    kind: 'monitor_resolved',
    at,
    actor,
    monitorId: id,
    monitorName: name,
    type,
    cause: 'withdrawn',
    reason,
  };
}

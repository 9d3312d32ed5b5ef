import { standing } from './detectors/pass-on-retry.ts';
import { dataOf } from './evaluate.ts';
import type { Monitor } from './monitor.ts';
import type { RunRef } from './run.ts';
import type { MonitorData, MonitorState, TestState } from './state.ts';

/**
 * Whether a test would be called flaky without the runs that `isTheirs` names: nobody's own failures excuse them. In
 * doubt it would not: of a failure rate only the latest failures are known, and one of theirs among them is too many.
 */
export function isFlakyWithout(
  state: TestState,
  monitors: readonly Monitor[],
  isTheirs: (run: RunRef) => boolean,
): boolean {
  if (state.flag !== null) return true;
  return monitors.some((monitor) => {
    const own = state.monitors[monitor.id];
    if (own === undefined || own.activeSince === null || own.mute !== null || !monitor.enabled) return false;
    if (monitor.action.kind !== 'classify' || monitor.action.status !== 'FLAKY') return false;
    return standsWithout(state, own, monitor, isTheirs);
  });
}

function standsWithout(
  state: TestState,
  own: MonitorState,
  monitor: Monitor,
  isTheirs: (run: RunRef) => boolean,
): boolean {
  const data = dataOf(own, monitor);
  if (data === null) return false;
  if (monitor.type === 'pass_on_retry') {
    const events = standing(data as MonitorData['pass_on_retry'], state.passingMultiplicities);
    return events.some((event) => !isTheirs(event));
  }
  const { failures } = data as MonitorData['failure_count' | 'failure_rate'];
  const others = failures.filter((failure) => !isTheirs(failure));
  if (monitor.type === 'failure_count') return others.length >= monitor.parameters.failureCount;
  return failures.length > 0 && others.length === failures.length;
}

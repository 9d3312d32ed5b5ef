import type { Instant } from '../lib/clock.ts';
import type { Monitor } from './core/monitor.ts';
import { findOccasions } from './core/occasions.ts';
import type { RunRef } from './core/run.ts';
import type { MonitorData, MonitorState, TestState } from './core/state.ts';
import { standing } from './detectors/pass-on-retry.ts';
import { dataOf } from './evaluate.ts';

/**
 * Tells whether the test would have been called flaky at that time without the runs that `isTheirs` selects: a pull
 * request's own failures do not excuse it. The answer in doubt is no. A failure rate keeps only its latest failures, so
 * one of theirs among them decides against it.
 */
export function isFlakyWithout(
  state: TestState,
  monitors: readonly Monitor[],
  isTheirs: (run: RunRef) => boolean,
  by: Instant = Number.POSITIVE_INFINITY,
): boolean {
  if (state.flag !== null && state.flag.at <= by) return true;
  return monitors.some((monitor) => {
    const own = state.monitors[monitor.id];
    if (own === undefined || own.activeSince === null || own.activeSince > by || own.mute !== null || !monitor.enabled)
      return false;
    if (monitor.action.kind !== 'classify' || monitor.action.status !== 'FLAKY') return false;
    return standsWithout(state, own, monitor, { isTheirs, by });
  });
}

function standsWithout(
  state: TestState,
  own: MonitorState,
  monitor: Monitor,
  { isTheirs, by }: { readonly isTheirs: (run: RunRef) => boolean; readonly by: Instant },
): boolean {
  const counts = (run: RunRef) => run.at <= by && !isTheirs(run);
  const data = dataOf(own, monitor);
  if (data === null) return false;
  if (monitor.type === 'pass_on_retry') {
    const events = standing(data as MonitorData['pass_on_retry'], state.passingMultiplicities);
    return events.some(counts);
  }
  if (monitor.type === 'failure_count') {
    const { failures, occasions, passes, sliceMs } = data as MonitorData['failure_count'];
    const { failureCount, passesBetween } = monitor.parameters;
    if (passesBetween === 0) return failures.filter(counts).length >= failureCount;
    return findOccasions(occasions.filter(counts), passes, sliceMs).length >= failureCount;
  }
  const { failures } = data as MonitorData['failure_rate'];
  // `filter` asks about every failure, where `some` would stop: a caller may collect the answers.
  return failures.length > 0 && failures.filter(isTheirs).length === 0;
}

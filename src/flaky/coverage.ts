import type { Instant } from '../lib/clock.ts';
import type { Monitor } from './core/monitor.ts';
import { findOccasions } from './core/occasions.ts';
import { isOfPath, pathsKnownAt, pathsOf } from './core/paths.ts';
import type { RunRef } from './core/run.ts';
import type { MonitorData, MonitorState, TestState } from './core/state.ts';
import { standing } from './detectors/pass-on-retry.ts';
import { dataOf } from './evaluate.ts';
import type { Quarantine } from './quarantine.ts';

/** A quarantined test, with the reasons for its quarantine. */
export interface QuarantinedFor {
  readonly state: TestState;
  readonly monitors: readonly Monitor[];
  readonly quarantine: Quarantine;
}

/**
 * Tells whether the quarantine covers a run of this path. A run without a path may belong to any path, so all must be
 * covered.
 */
// SPEC F50
export function isCovered(test: QuarantinedFor, path: string | null): boolean {
  const known = pathsOf(test.state);
  if (path !== null) return coversPath(test, path);
  return known.length === 0 ? coversAny(test) : known.every(([each]) => coversPath(test, each));
}

/**
 * Tells whether a person's decision covers a run of this path; undefined if there was no decision up to `by`. A run
 * without a path may belong to any path, so the decision must name all of them.
 */
// SPEC F80
export function isDecidedFor(
  { state, quarantine }: Pick<QuarantinedFor, 'state' | 'quarantine'>,
  path: string | null,
  by: Instant = Number.POSITIVE_INFINITY,
): boolean | undefined {
  if (quarantine.by !== 'person' || quarantine.at > by) return undefined;
  const { suites } = quarantine;
  return path === null ? pathsOf(state).every(([each]) => suites.includes(each)) : suites.includes(path);
}

function coversPath(test: QuarantinedFor, path: string): boolean {
  const { state, monitors } = test;
  const isDecided = isDecidedFor(test, path);
  if (isDecided !== undefined) return isDecided;
  const { flag } = state;
  if (flag !== null && pathsKnownAt(state, flag.at).includes(path)) return true;
  return isFlakyBy({ ...state, flag: null }, monitors, (run) => isOfPath(state, run, path));
}

function coversAny(test: QuarantinedFor): boolean {
  return isDecidedFor(test, null) ?? isFlakyBy(test.state, test.monitors, () => true);
}

/**
 * Tells whether the test would be called flaky for the runs that `counts` selects alone. The answer in doubt is no. A
 * failure rate keeps only its latest failures, so one that does not count among them decides against it.
 */
// SPEC F50
function isFlakyBy(state: TestState, monitors: readonly Monitor[], counts: (run: RunRef) => boolean): boolean {
  if (state.flag !== null) return true;
  return monitors.some((monitor) => {
    const own = state.monitors[monitor.id];
    if (own === undefined || own.activeSince === null || own.mute !== null || !monitor.enabled) return false;
    if (monitor.action.kind !== 'classify' || monitor.action.status !== 'FLAKY') return false;
    return stands(state, own, monitor, counts);
  });
}

function stands(state: TestState, own: MonitorState, monitor: Monitor, counts: (run: RunRef) => boolean): boolean {
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
  return failures.length > 0 && failures.every(counts);
}

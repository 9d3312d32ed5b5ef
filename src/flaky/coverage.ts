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

export interface Excluded {
  /** Runs that are no evidence. */
  readonly isTheirs: (run: RunRef) => boolean;
  /** Later runs are no evidence either. */
  readonly by: Instant;
}

const NOTHING: Excluded = { isTheirs: () => false, by: Number.POSITIVE_INFINITY };

/**
 * Tells whether the quarantine covers a run of this path. A run without a path may belong to any path, so all must be
 * covered.
 */
// SPEC F50
export function isCovered(test: QuarantinedFor, path: string | null, excluded: Excluded = NOTHING): boolean {
  const known = pathsOf(test.state);
  if (path !== null) return coversPath(test, path, excluded);
  return known.length === 0 ? coversAny(test, excluded) : known.every(([each]) => coversPath(test, each, excluded));
}

/**
 * Tells whether a person's decision covers a run of this path; undefined if there was no decision up to `by`. A run
 * without a path may belong to any path, so the decision must name all of them.
 */
// SPEC F80
export function isDecidedFor(
  { state, quarantine }: Pick<QuarantinedFor, 'state' | 'quarantine'>,
  path: string | null,
  by: Instant,
): boolean | undefined {
  if (quarantine.by !== 'person' || quarantine.at > by) return undefined;
  const { suites } = quarantine;
  return path === null ? pathsOf(state).every(([each]) => suites.includes(each)) : suites.includes(path);
}

function coversPath(test: QuarantinedFor, path: string, { isTheirs, by }: Excluded): boolean {
  const { state, monitors } = test;
  const isDecided = isDecidedFor(test, path, by);
  if (isDecided !== undefined) return isDecided;
  const { flag } = state;
  if (flag !== null && flag.at <= by && pathsKnownAt(state, flag.at).includes(path)) return true;
  const isNoEvidence = (run: RunRef) => isTheirs(run) || !isOfPath(state, run, path);
  return isFlakyWithout({ ...state, flag: null }, monitors, isNoEvidence, by);
}

function coversAny(test: QuarantinedFor, { isTheirs, by }: Excluded): boolean {
  return isDecidedFor(test, null, by) ?? isFlakyWithout(test.state, test.monitors, isTheirs, by);
}

/**
 * Tells whether the test would have been called flaky at that time without the runs that `isTheirs` selects: a pull
 * request's own failures do not excuse it. The answer in doubt is no. A failure rate keeps only its latest failures, so
 * one of theirs among them decides against it.
 */
// SPEC F50
function isFlakyWithout(
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

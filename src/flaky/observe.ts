/**
 * From the runs of an upload to what is known of their tests.
 *
 * For each upload the caller asks `scopeOf` once and then calls `observe` for each test. Beside the test's state it
 * needs one thing from the store, `earlier`: what other uploads of the same commit and job said of the test. Where
 * there is no other upload of that commit and job, that is nothing. Otherwise it is exactly
 *   - the failures that they hold, of any test of this upload (the index of failures by commit), and
 *   - for the tests that fail in this upload, whether they passed there.
 * For a test that passes here and passed there nothing need be read.
 */
import type { Instant } from '../lib/clock.ts';
import { matchesAnyBranch } from './core/branch-pattern.ts';
import type { Batch } from './core/detector.ts';
import type { Monitor } from './core/monitor.ts';
import { groupByPath, notePaths } from './core/paths.ts';
import { noteJob } from './core/platform.ts';
import { passingMultiplicity } from './core/retry.ts';
import type { EarlierOutcome, ObservedRun, UploadFacts } from './core/run.ts';
import { type MonitorState, newMonitorState, newTestState, type TestState } from './core/state.ts';
import { detectorOf } from './detectors/table.ts';
import { dataOf, evaluate } from './evaluate.ts';
import type { Changed } from './test-event.ts';

export interface UploadScope {
  readonly upload: UploadFacts;
  readonly at: Instant;
  readonly monitors: readonly Monitor[];
  /** Those that look at the upload's branch. */
  readonly looking: readonly Monitor[];
}

export interface Observed extends Changed<TestState> {
  /**
   * False where only counts of passing runs changed, or nothing: such a state may be stored late, and counted again
   * from the runs after a crash.
   */
  readonly isUrgent: boolean;
}

export function scopeOf(upload: UploadFacts, monitors: readonly Monitor[], at: Instant): UploadScope {
  const looking = monitors.filter(({ enabled, branches }) => enabled && matchesAnyBranch(branches, upload.branch));
  return { upload, at, monitors, looking };
}

/** Folds the runs of one test in one upload in, and decides. `before` is undefined for a test never seen. */
export function observe(
  before: TestState | undefined,
  runs: readonly ObservedRun[],
  scope: UploadScope,
  earlier: readonly EarlierOutcome[] = [],
): Observed {
  const { at, monitors } = scope;
  const known = before ?? newTestState(at);
  // It counts in figures only: nobody can have a test called flaky from outside.
  if (scope.upload.flaw !== null) return { state: known, events: [], isUrgent: before === undefined };
  const paths = notePaths(known.paths, runs, at);
  const seen = paths === undefined || paths === known.paths ? known : { ...known, paths };
  const state = fold(seen, { upload: scope.upload, runs, earlier, at }, scope.looking);
  const isDue = state.nextCheckAt !== null && state.nextCheckAt <= at;
  if (state === known && !isDue) return { state, events: [], isUrgent: before === undefined };
  const evaluated = evaluate(state, { monitors, looking: isDue ? monitors : monitorsToAsk(state, known, scope), at });
  const isUrgent =
    before === undefined ||
    evaluated.events.length > 0 ||
    evaluated.state.nextCheckAt !== known.nextCheckAt ||
    state.passingMultiplicities !== known.passingMultiplicities ||
    // Blocks of runs do not hold paths: what is counted by path is not counted from them again.
    state.paths !== known.paths ||
    (state.paths?.length ?? 0) > 1 ||
    runs.some((run) => run.conclusion !== 'SUCCESS');
  return { ...evaluated, isUrgent };
}

/** Counts without deciding. The order in which uploads are folded does not matter. */
export function fold(state: TestState, batch: Batch, looking: readonly Monitor[]): TestState {
  const jobs = noteJob(state.jobs, batch.upload.job, batch.runs);
  const passingMultiplicities = noteMultiplicity(state.passingMultiplicities, batch.runs);
  // Copied once at most: this is called for every run there is.
  let changed: Record<string, MonitorState> | undefined;
  for (const monitor of looking) {
    const own = state.monitors[monitor.id];
    const next = foldMonitor(own ?? newMonitorState(monitor.type), batch, monitor);
    if (next.data === (own?.data ?? null)) continue;
    changed ??= { ...state.monitors };
    changed[monitor.id] = next;
  }
  if (jobs === state.jobs && passingMultiplicities === state.passingMultiplicities && changed === undefined)
    return state;
  return { ...state, jobs, passingMultiplicities, monitors: changed ?? state.monitors };
}

function foldMonitor(own: MonitorState, batch: Batch, monitor: Monitor): MonitorState {
  const data = dataOf(own, monitor);
  const next = detectorOf(monitor.type).fold(data, batch, monitor);
  return next === own.data ? own : { ...own, type: monitor.type, data: next };
}

/** Monitors that do not look at this branch decide anew only where something changed that all of them share. */
function monitorsToAsk(state: TestState, known: TestState, scope: UploadScope): readonly Monitor[] {
  const isShared = state.jobs !== known.jobs || state.passingMultiplicities !== known.passingMultiplicities;
  return isShared ? scope.monitors : scope.looking;
}

function noteMultiplicity(known: readonly number[], runs: readonly ObservedRun[]): readonly number[] {
  if (runs.length < 2) return known;
  let noted = known;
  for (const ofPath of groupByPath(runs).values()) {
    const multiplicity = passingMultiplicity(ofPath);
    if (multiplicity !== undefined && !noted.includes(multiplicity)) noted = [...noted, multiplicity];
  }
  return noted === known ? known : noted.toSorted((one, other) => one - other);
}

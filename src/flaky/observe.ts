/**
 * Folds the runs of an upload into the states of their tests.
 *
 * For each upload the caller calls `scopeOf` once, and then `observe` for each test. Besides the test's state,
 * `observe` needs one thing from the store, `earlier`: the outcomes of the test in other uploads of the same job and the
 * same commit or tree. Without such uploads it is empty. Otherwise it holds exactly
 * - their failures, of any test of this upload (the index of failures by commit), and
 * - for the tests that fail in this upload, whether they passed there.
 *
 * A test that passes here and passed there needs no read.
 */
import type { Instant } from '../lib/clock.ts';
import { matchesAnyBranch } from './core/branch-pattern.ts';
import type { Batch } from './core/detector.ts';
import { COUNTING_FAILURES, type Monitor } from './core/monitor.ts';
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
  /** The monitors that count the upload's runs. */
  readonly looking: readonly Monitor[];
}

export interface Observed extends Changed<TestState> {
  /**
   * False if only counts of passing runs changed, or nothing. Such a state may be stored late: after a crash it is
   * counted again from the runs.
   */
  readonly isUrgent: boolean;
}

export function scopeOf(upload: UploadFacts, monitors: readonly Monitor[], at: Instant): UploadScope {
  const looking = monitors.filter((monitor) => monitor.enabled && countsRuns(monitor, upload));
  return { upload, at, monitors, looking };
}

// SPEC F87
function countsRuns({ type, branches }: Monitor, { branch, isTestBranch }: UploadFacts): boolean {
  return !(isTestBranch && COUNTING_FAILURES.has(type)) && matchesAnyBranch(branches, branch);
}

/** Folds the runs of one test in one upload, then decides. `before` is undefined for a new test. */
export function observe(
  before: TestState | undefined,
  runs: readonly ObservedRun[],
  scope: UploadScope,
  earlier: readonly EarlierOutcome[] = [],
): Observed {
  const { at, monitors } = scope;
  const known = before ?? newTestState(at);
  // The upload counts in figures only, so that no outsider can have a test called flaky.
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
    // Stored runs do not hold paths, so counts by path cannot be restored from them.
    state.paths !== known.paths ||
    (state.paths?.length ?? 0) > 1 ||
    runs.some((run) => run.conclusion !== 'SUCCESS');
  return { state: evaluated.state, events: evaluated.events, isUrgent };
}

/** Counts without deciding. The order of uploads does not matter. */
export function fold(state: TestState, batch: Batch, looking: readonly Monitor[]): TestState {
  const jobs = noteJob(state.jobs, batch.upload.job, batch.runs);
  const passingMultiplicities = noteMultiplicity(state.passingMultiplicities, batch.runs);
  // Copies once at most: this code runs for every stored run.
  let changed: Record<string, MonitorState> | undefined;
  for (const monitor of looking) {
    const { id, type } = monitor;
    const own = state.monitors[id];
    const data = detectorOf(type).fold(own === undefined ? null : dataOf(own, monitor), batch, monitor);
    if (data === (own?.data ?? null)) continue;
    changed ??= { ...state.monitors };
    changed[id] = { ...(own ?? newMonitorState(type)), type, data };
  }
  if (jobs === state.jobs && passingMultiplicities === state.passingMultiplicities && changed === undefined)
    return state;
  return { ...state, jobs, passingMultiplicities, monitors: changed ?? state.monitors };
}

/** Monitors of other branches decide again only if a fact changed that all monitors share. */
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

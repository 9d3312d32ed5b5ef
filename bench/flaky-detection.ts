import { readFileSync } from 'node:fs';
import type { Monitor } from '../src/flaky/core/monitor.ts';
import type { EarlierOutcome, ObservedRun } from '../src/flaky/core/run.ts';
import type { TestState } from '../src/flaky/core/state.ts';
import { observe, scopeOf, type UploadScope } from '../src/flaky/observe.ts';
import { seedMonitors } from '../src/flaky/settings.ts';
import { Prng } from '../src/lib/prng.ts';
import { printFigure, progress } from './lib/figure.ts';

const DATA = new URL('data/flaky-rates.csv', import.meta.url);
const COMMITS = 200;
const COMMIT_EVERY_MS = 20 * 60_000;
/** A detection counts within this many executions of the test. */
const EARLY_RUNS = 30;
const REGRESSION_RATE = 0.02;
/** A regression is fixed after at most this many commits, including the first. */
const LONGEST_REGRESSION = 10;
const SEEDS = [1, 2, 3, 4];
/** One in this many of the tests that are not flaky fails on the second platform. */
const PLATFORM_EVERY = 50;
const PLATFORMS = ['linux', 'windows'];

/** Why a test can fail, and when it was detected. */
interface Subject {
  readonly failureRate: number;
  readonly failsOn: string | undefined;
  state: TestState | undefined;
  executions: number;
  flakyFailures: number;
  hasRegressed: boolean;
  detectedAfter: number | undefined;
  /** Detected by pass on retry alone. */
  retryAfter: number | undefined;
  /** When an ideal detector would have known that sees every pair of outcomes on one commit. */
  idealAfter: number | undefined;
}

export interface DetectionFigures {
  /** The share of flaky failures whose test was detected early, relative to the ideal. */
  readonly recallOfIdeal: number;
  /** The same by pass on retry alone. */
  readonly retryRecallOfIdeal: number;
  readonly recall: number;
  readonly precision: number;
  /** Tests that regressed and never fail otherwise. */
  readonly regressedTests: number;
  readonly regressionsCalledFlaky: number;
  readonly platformFailuresCalledFlaky: number;
  readonly microsecondsPerRun: number;
}

/**
 * Replays real failure rates as CI. Every commit runs every test, and on two platforms those that fail on one of them.
 * Failed tests are retried once on the same commit and job. Some commits have regressions, which fail again on later
 * commits until they are fixed. The monitors are those of a new repository. Half of the commits are on main.
 */
export function replayAsCi(seed: number): DetectionFigures {
  const random = new Prng(`flaky detection ${seed}`);
  const subjects = readSubjects(random);
  const regressions: Regression[] = [];
  let executions = 0;
  let spentMs = 0;
  for (let commit = 0; commit < COMMITS; commit += 1) {
    if (random.chance(REGRESSION_RATE)) {
      regressions.push({ tests: pickSome(random, subjects), fixedAt: commit + random.between(1, LONGEST_REGRESSION) });
    }
    const open = regressions.filter(({ fixedAt }) => commit < fixedAt);
    const broken = new Set(open.flatMap(({ tests }) => tests));
    const begun = performance.now();
    for (const job of PLATFORMS) executions += runCommit({ commit, job, subjects, broken, random });
    spentMs += performance.now() - begun;
  }
  return figuresOf(subjects, (spentMs * 1000) / executions);
}

interface Regression {
  readonly tests: readonly Subject[];
  readonly fixedAt: number;
}

export function measureDetection(): void {
  progress('flaky detection: a test counts as detected, or called flaky, from when any monitor that says so is active');
  progress(`(its status is then FLAKY or BROKEN); regressions stay for 1 to ${LONGEST_REGRESSION} commits`);
  for (const seed of SEEDS) {
    progress(`flaky detection, seed ${seed}`);
    const figures = replayAsCi(seed);
    const name = `flaky.detection.${seed}`;
    // A goal is an upper limit, so the missing share is printed.
    const missed = (recallOfIdeal: number) => Math.max(0, 1 - recallOfIdeal);
    const share = { unit: 'share', goal: 0.05 };
    printFigure({ name: `${name}.missed_of_ideal`, value: missed(figures.recallOfIdeal), ...share });
    printFigure({ name: `${name}.missed_of_ideal_by_retry`, value: missed(figures.retryRecallOfIdeal), ...share });
    printFigure({ name: `${name}.recall`, value: figures.recall, unit: 'share' });
    printFigure({ name: `${name}.wrongly_called`, value: 1 - figures.precision, unit: 'share', goal: 0.01 });
    const tests = { unit: 'tests', goal: 0 };
    printFigure({ name: `${name}.regressions_called_flaky`, value: figures.regressionsCalledFlaky, ...tests });
    const { platformFailuresCalledFlaky: value } = figures;
    printFigure({ name: `${name}.platform_failures_called_flaky`, value, ...tests });
    printFigure({ name: `${name}.regressed_tests`, value: figures.regressedTests, unit: 'tests' });
    printFigure({ name: `${name}.time_per_run`, value: figures.microsecondsPerRun, unit: 'µs' });
  }
}

function readSubjects(random: Prng): readonly Subject[] {
  const subjects: Subject[] = [];
  let steady = 0;
  for (const line of readFileSync(DATA, 'utf8').trim().split('\n').slice(1)) {
    const [failing = 0, passing = 0, tests = 0] = line.split(',').slice(1).map(Number);
    for (let test = 0; test < tests; test += 1) {
      if (failing === 0) steady += 1;
      const failsOn = failing === 0 && steady % PLATFORM_EVERY === 0 ? random.pick(PLATFORMS) : undefined;
      subjects.push(newSubject(failing / (failing + passing), failsOn));
    }
  }
  return random.shuffle(subjects);
}

function newSubject(failureRate: number, failsOn: string | undefined): Subject {
  return {
    failureRate,
    failsOn,
    state: undefined,
    executions: 0,
    flakyFailures: 0,
    hasRegressed: false,
    detectedAfter: undefined,
    retryAfter: undefined,
    idealAfter: undefined,
  };
}

/** A regression breaks a few neighbouring tests. */
function pickSome(random: Prng, subjects: readonly Subject[]): readonly Subject[] {
  const first = random.integer(subjects.length);
  return subjects.slice(first, first + random.between(1, 40));
}

interface CommitRun {
  readonly commit: number;
  readonly job: string;
  readonly subjects: readonly Subject[];
  readonly broken: ReadonlySet<Subject>;
  readonly random: Prng;
}

/** The first attempt of a job, and the second for failed tests. */
function runCommit(run: CommitRun): number {
  const { subjects, job } = run;
  const first = scopeFor(run, 1);
  const second = scopeFor(run, 2);
  let executions = 0;
  for (const subject of subjects) {
    if (job !== PLATFORMS[0] && subject.failsOn === undefined) continue;
    executions += 1;
    const failed = execute(subject, run, first, []);
    if (!failed) continue;
    executions += 1;
    const { id: uploadId, ...upload } = first.upload;
    const earlier = { ...upload, uploadId, hasFailed: true, at: first.at };
    const failedAgain = execute(subject, run, second, [earlier]);
    if (!failedAgain) subject.idealAfter ??= subject.executions;
  }
  return executions;
}

const MONITORS = seedMonitors(monitorIds(), 0);
const FLAKY_MONITORS = MONITORS.filter(({ action }) => action.kind === 'classify' && action.status === 'FLAKY');
const RETRY = MONITORS.find(({ type }) => type === 'pass_on_retry');

function monitorIds(): () => string {
  let last = 0;
  return () => {
    last += 1;
    return `monitor-${last}`;
  };
}

function scopeFor({ commit, job }: CommitRun, attempt: number): UploadScope {
  const isMain = commit % 2 === 0;
  const at = Date.UTC(2026, 0, 1) + commit * COMMIT_EVERY_MS + attempt * 60_000;
  const upload = {
    id: `${commit}-${job}-${attempt}`,
    branch: isMain ? 'main' : `change-${commit}`,
    isTestBranch: false,
    sha: `sha-${commit}`,
    tree: null,
    candidateId: null,
    job,
    jobAttempt: attempt,
    prNumber: isMain ? null : commit,
    flaw: null,
  };
  return scopeOf(upload, MONITORS, at);
}

/** A test may be flaky and broken at once. Its status is then the worse of the two. */
function isCalledFlaky(state: TestState): boolean {
  return FLAKY_MONITORS.some((monitor) => isActive(state, monitor));
}

function isActive(state: TestState, monitor: Monitor | undefined): boolean {
  return monitor !== undefined && (state.monitors[monitor.id]?.activeSince ?? null) !== null;
}

/** Returns whether it failed. */
function execute(
  subject: Subject,
  { job, broken, random }: CommitRun,
  scope: UploadScope,
  earlier: readonly EarlierOutcome[],
): boolean {
  const byChance = random.chance(subject.failureRate);
  const forReason = broken.has(subject) || subject.failsOn === job;
  if (broken.has(subject)) subject.hasRegressed = true;
  if (byChance && !forReason) subject.flakyFailures += 1;
  const conclusion = byChance || forReason ? 'FAILURE' : 'SUCCESS';
  const runs: readonly ObservedRun[] = [
    { conclusion, startedAt: scope.at, durationMs: 20, attempt: null, rerunOf: null },
  ];
  const { state } = observe(subject.state, runs, scope, earlier);
  subject.state = state;
  subject.executions += 1;
  if (isCalledFlaky(state)) subject.detectedAfter ??= subject.executions;
  if (isActive(state, RETRY)) subject.retryAfter ??= subject.executions;
  return conclusion === 'FAILURE';
}

function figuresOf(subjects: readonly Subject[], microsecondsPerRun: number): DetectionFigures {
  const flaky = subjects.filter((subject) => subject.failureRate > 0);
  const called = subjects.filter((subject) => subject.detectedAfter !== undefined);
  const wrong = called.filter((subject) => subject.failureRate === 0);
  const early = (after: number | undefined) => after !== undefined && after <= EARLY_RUNS;
  const failures = (list: readonly Subject[]) => list.reduce((sum, subject) => sum + subject.flakyFailures, 0);
  const found = failures(flaky.filter((subject) => early(subject.detectedAfter)));
  const possible = failures(flaky.filter((subject) => early(subject.idealAfter)));
  return {
    recallOfIdeal: found / possible,
    retryRecallOfIdeal: failures(flaky.filter((subject) => early(subject.retryAfter))) / possible,
    recall: found / failures(flaky),
    precision: called.length === 0 ? 1 : 1 - wrong.length / called.length,
    regressedTests: subjects.filter(({ failureRate, hasRegressed }) => failureRate === 0 && hasRegressed).length,
    regressionsCalledFlaky: wrong.filter((subject) => subject.hasRegressed).length,
    platformFailuresCalledFlaky: wrong.filter((subject) => subject.failsOn !== undefined).length,
    microsecondsPerRun,
  };
}

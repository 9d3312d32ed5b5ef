import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isActiveNaively } from '../../test/helpers/flaky-naive.ts';
import {
  aMonitor,
  anUpload,
  aRun,
  FlakyWorld,
  HOUR,
  MINUTE,
  START,
  type Told,
} from '../../test/helpers/test-history.ts';
import type { Monitor } from './core/monitor.ts';
import { newTestState, type TestState } from './core/state.ts';
import { expire } from './evaluate.ts';
import { fold, scopeOf } from './observe.ts';

const MONITORS: readonly Monitor[] = [
  aMonitor({ type: 'pass_on_retry', parameters: { recovery_days: 1 } }),
  aMonitor({ type: 'pass_on_retry', branches: ['m*'] }, 'retry on main'),
  aMonitor({
    type: 'failure_count',
    branches: ['main'],
    parameters: { failure_count: 2, window_minutes: 2520, resolution_timeout_minutes: 2520, passes_between: 1 },
  }),
  aMonitor(
    {
      type: 'failure_count',
      action: { labels: ['Failing'] },
      branches: ['main'],
      parameters: { failure_count: 3, window_minutes: 600, resolution_timeout_minutes: 900 },
    },
    'literal',
  ),
  aMonitor({
    type: 'failure_rate',
    action: { classify: 'BROKEN' },
    branches: ['main'],
    parameters: { activation_threshold: 0.6, resolution_threshold: 0.4, window_hours: 10, minimum_sample_size: 3 },
  }),
  aMonitor(
    {
      type: 'failure_rate',
      action: { classify: 'BROKEN' },
      parameters: { activation_threshold: 0.5, window_hours: 30, minimum_sample_size: 2, stale_timeout_hours: 12 },
    },
    'stale',
  ),
  aMonitor({
    type: 'skipped_test',
    action: { labels: ['Skipped'] },
    parameters: { window_minutes: 700, minimum_skipped_count: 2, resolution_days: 1 },
  }),
  aMonitor({
    type: 'slow_test',
    action: { labels: ['Slow'] },
    parameters: { threshold_ms: 100, percentile: 0.5, window_minutes: 900, minimum_sample_size: 2 },
  }),
];

const PATIENCE = { numRuns: 400 * Number(process.env['PROPERTY_RUNS'] ?? 1) };

const aRunSpec = fc.record({
  conclusion: fc.constantFrom('SUCCESS', 'SUCCESS', 'FAILURE', 'SKIPPED' as const),
  minutesAgo: fc.integer({ min: 0, max: 2000 }),
  durationMs: fc.constantFrom(50, 99, 100, 400),
});

/** Two commits of a tree, one of another, and one whose tree is known to some uploads only. */
const COMMITS = [
  { sha: 'c1', tree: 't1' },
  { sha: 'c2', tree: 't1' },
  { sha: 'c3', tree: 't3' },
  { sha: 'c4', tree: 't1' },
  { sha: 'c4', tree: null },
];

/** Some time passes, then an upload arrives or the monitors are evaluated. */
const aStep = fc.record({
  minutes: fc.integer({ min: 0, max: 500 }),
  branch: fc.constantFrom('main', 'main', 'change', 'sluice/change'),
  commit: fc.constantFrom(...COMMITS),
  job: fc.constantFrom('linux', 'windows'),
  jobAttempt: fc.constantFrom(null, null, 1, 2),
  flaw: fc.constantFrom(null, null, null, 'FORK' as const),
  runs: fc.array(aRunSpec, { maxLength: 3 }),
});
type Step = typeof aStep extends fc.Arbitrary<infer T> ? T : never;

const someSteps = fc.array(aStep, { maxLength: 25 });

function toldOf(step: Step, index: number, at: number): Told {
  const { branch, commit, job, jobAttempt, flaw } = step;
  const runs = step.runs.map(({ conclusion, minutesAgo, durationMs }) =>
    aRun(conclusion as 'SUCCESS', at - minutesAgo * MINUTE, { durationMs }),
  );
  return {
    upload: anUpload({
      ...commit,
      id: `u${index}`,
      branch,
      isTestBranch: branch.startsWith('sluice/'),
      job,
      jobAttempt,
      flaw,
    }),
    runs,
  };
}

function activeOf(state: TestState | undefined): readonly string[] {
  return MONITORS.map(({ id }) => id).filter((id) => (state?.monitors[id]?.activeSince ?? null) !== null);
}

describe('detection', () => {
  it('agrees at every instant with what all runs say together [F6] [F40]', () => {
    fc.assert(
      fc.property(someSteps, (steps) => {
        const world = new FlakyWorld(MONITORS);
        let active: readonly string[] = [];
        let at = START;
        const compare = () => {
          active = MONITORS.filter((monitor) =>
            isActiveNaively(monitor, world.told, at, active.includes(monitor.id)),
          ).map(({ id }) => id);
          assert.deepEqual(activeOf(world.state), active);
          assert.equal(world.state?.status ?? 'HEALTHY', statusOf(active));
        };
        for (const [index, step] of steps.entries()) {
          const until = at + step.minutes * MINUTE;
          while (world.state?.nextCheckAt != null && world.state.nextCheckAt <= until) {
            at = world.state.nextCheckAt;
            world.state = expire(world.state, MONITORS, at).state;
            compare();
          }
          at = until;
          if (step.runs.length > 0) world.tell(toldOf(step, index, at), at);
          compare();
        }
      }),
      PATIENCE,
    );
  });

  it('changes nothing between two looks at the clock that it asked for [F41]', () => {
    fc.assert(
      fc.property(someSteps, fc.integer({ min: 0, max: 4000 }), (steps, minutes) => {
        const { world, at } = play(steps);
        if (world.state === undefined) return;
        const later = at + minutes * MINUTE;
        const { events } = expire(world.state, MONITORS, later);
        if (world.state.nextCheckAt === null || later < world.state.nextCheckAt) assert.deepEqual(events, []);
      }),
      PATIENCE,
    );
  });

  it('does not depend on the order in which uploads arrive [F6]', () => {
    fc.assert(
      fc.property(
        fc
          .array(aStep, { maxLength: 12 })
          .chain((steps) =>
            fc.tuple(fc.constant(steps), fc.shuffledSubarray([...steps.keys()], { minLength: steps.length })),
          ),
        ([steps, order]) => {
          const at = START + 40 * HOUR;
          const uploads = steps.map((step, index) => toldOf(step, index, at));
          const inOrder = foldAll(uploads, at);
          assert.deepEqual(
            foldAll(
              order.map((index) => uploads[index] as Told),
              at,
            ),
            inOrder,
          );
          // Evaluated once at the end, the result is independent of the order of arrival. Stateless monitors agree in
          // between too.
          const one = new FlakyWorld(MONITORS.slice(0, 2));
          const other = new FlakyWorld(MONITORS.slice(0, 2));
          for (const upload of uploads) one.tell(upload, at);
          for (const index of order) other.tell(uploads[index] as Told, at);
          assert.equal(other.state?.status, one.state?.status);
          assert.equal(other.state?.nextCheckAt, one.state?.nextCheckAt);
        },
      ),
      PATIENCE,
    );
  });

  it('counts the same whether runs are folded in at once or in parts [F6]', () => {
    fc.assert(
      fc.property(someSteps, (steps) => {
        const at = START + 40 * HOUR;
        const uploads = steps.map((step, index) => toldOf(step, index, at));
        const parts = uploads.flatMap(({ upload, runs }) => runs.map((run) => ({ upload, runs: [run] })));
        const counting = MONITORS.slice(2).map(({ id }) => id);
        const counts = (state: TestState) => counting.map((id) => state.monitors[id]?.data);
        assert.deepEqual(counts(foldAll(parts, at)), counts(foldAll(uploads, at)));
      }),
      PATIENCE,
    );
  });

  it('survives being stored as JSON', () => {
    fc.assert(
      fc.property(someSteps, (steps) => {
        const { world } = play(steps);
        if (world.state !== undefined) assert.deepEqual(JSON.parse(JSON.stringify(world.state)), world.state);
      }),
      { numRuns: 100 },
    );
  });
});

function play(steps: readonly Step[]): { readonly world: FlakyWorld; readonly at: number } {
  const world = new FlakyWorld(MONITORS);
  let at = START;
  for (const [index, step] of steps.entries()) {
    at += step.minutes * MINUTE;
    world.tell(toldOf(step, index, at), at);
  }
  return { world, at };
}

/** Only the counting, without earlier knowledge of a commit. */
function foldAll(uploads: readonly Told[], at: number): TestState {
  let state = newTestState(START);
  for (const { upload, runs } of uploads) {
    if (upload.flaw === null)
      state = fold(state, { upload, runs, earlier: [], at }, scopeOf(upload, MONITORS, at).looking);
  }
  return { ...state, jobs: state.jobs.toSorted((a, b) => (a.job < b.job ? -1 : 1)) };
}

function statusOf(active: readonly string[]): string {
  if (active.includes('failure_rate') || active.includes('stale')) return 'BROKEN';
  const flaky = ['pass_on_retry', 'retry on main', 'failure_count'];
  return active.some((id) => flaky.includes(id)) ? 'FLAKY' : 'HEALTHY';
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tell, workloadOf } from '../../test/worlds/engine/workload-words.ts';
import type { Candidate } from '../engine/model/candidate.ts';
import { NOTHING_LEARNED } from '../engine/model/learned.ts';
import { DEFAULT_SETTINGS, type QueueSettings } from '../engine/model/settings.ts';
import { runOracle, runSerial } from './baselines.ts';
import type { TestEnd } from './engine-run.ts';
import { generate, type Recipe } from './generate.ts';
import { measure } from './measure.ts';
import type { Outcome } from './referee.ts';
import { beginQueue, beginRun, runSluice, WorkloadWorld } from './sluice.ts';
import { HOUR_MS, type Workload } from './workload.ts';

const RECIPE: Recipe = {
  seed: '1',
  perHour: 30,
  shape: 'flat',
  prs: 150,
  hours: undefined,
  medianMinutes: 10,
  p95Minutes: 20,
  failureRate: 0.1,
  breakRate: 0.05,
  conflictRate: 0.05,
  needRate: 0,
  targets: 6,
  targetsPerPr: 2,
};

function draw(seed: string, flakeRate: number, changed: Partial<Recipe> = {}): Workload {
  return { source: 'test', changes: generate({ ...RECIPE, ...changed, seed }), chance: { seed, flakeRate, gitMs: 0 } };
}

function settings(changed: Partial<QueueSettings>): QueueSettings {
  return { ...DEFAULT_SETTINGS, ...changed };
}

const VARIANTS: readonly Partial<QueueSettings>[] = [
  {},
  { concurrency: 20 },
  { concurrency: 4, batch: true, batchingMinSize: 8 },
  { concurrency: 4, batch: true, optimizationMode: 'BISECTION_SKIP_REDUNDANT_TESTS' },
  { mode: 'PARALLEL', concurrency: 10, pendingFailureDepth: 1 },
  { mode: 'PARALLEL', concurrency: 6, batch: true, batchingMaxWaitTimeMinutes: 0 },
];

const ADAPTIVE: readonly Partial<QueueSettings>[] = [
  { concurrency: 1, optimizationMode: 'ADAPTIVE', runCost: 16 },
  { concurrency: 20, optimizationMode: 'ADAPTIVE', runCost: 1 },
  { mode: 'PARALLEL', concurrency: 10, optimizationMode: 'ADAPTIVE' },
];

/** From the fiftieth change on, all runs of an hour fail. */
function runInOutage(workload: Workload, of: QueueSettings): Outcome {
  const from = workload.changes[50]?.submittedAt ?? 0;
  class Outage extends WorkloadWorld {
    override beginRun(candidate: Candidate): TestEnd {
      const end = super.beginRun(candidate);
      const { now } = run.clock;
      return now < from + HOUR_MS && now + end.afterMs > from ? { ...end, passes: false } : end;
    }
  }
  const world = new Outage(workload, undefined);
  const run = beginRun(workload, beginQueue(of), world);
  while (run.advance());
  return world.referee;
}

describe('Sluice in the simulator', () => {
  it('lands passing changes, removes broken ones, and tests again the changes behind them', () => {
    const workload = workloadOf([{}, { isBroken: true }, { conflictsWith: 1 }, {}]);
    const outcome = runSluice(workload, settings({ concurrency: 4, confirmFailures: 'NEVER' }));
    assert.equal(tell(outcome.landedAt), '1@10 4@20');
    assert.equal(tell(outcome.removedAt), '2@10 3@10');
    assert.equal(outcome.runs, 4);
    // #3 is set aside because of #1. #4 was built on #3 and restarts twice: with #3 and with #2.
    assert.equal(outcome.restarts, 3);
  });

  it('waits for a batch as long as it was told to', () => {
    const outcome = runSluice(workloadOf([{}, { at: 1 }, { at: 40 }]), settings({ batch: true, batchingMinSize: 3 }));
    assert.equal(tell(outcome.landedAt), '1@15 2@15 3@55');
    assert.equal(outcome.runs, 2);
  });

  it('with one slot, no batches and no confirmations does what the serial queue does', () => {
    for (const seed of ['1', '2', '3']) {
      const workload = draw(seed, 0.05);
      const sluice = runSluice(workload, settings({ concurrency: 1, confirmFailures: 'NEVER' }));
      const serial = runSerial(workload);
      assert.deepEqual([...sluice.landedAt.keys()], [...serial.landedAt.keys()]);
      assert.deepEqual([...sluice.removedAt.keys()].sort(), [...serial.removedAt.keys()].sort());
    }
  });

  it('decides everything, lands nothing that is broken, and without flakes removes nothing else', () => {
    for (const [index, variant] of [...VARIANTS, ...ADAPTIVE].entries()) {
      const workload = draw(String(index), 0);
      const { undecided, brokenLanded, wronglyRemoved } = measure([
        { workload, outcome: runSluice(workload, settings(variant)) },
      ]);
      assert.deepEqual(
        { undecided, brokenLanded, wronglyRemoved },
        { undecided: 0, brokenLanded: 0, wronglyRemoved: 0 },
      );
    }
  });

  it('without batches removes no change that needs an earlier one', () => {
    const workload = draw('needs', 0, { needRate: 0.5, breakRate: 0, conflictRate: 0 });
    assert.ok(workload.changes.filter(({ needs }) => needs !== undefined).length > 30);
    for (const variant of [{ concurrency: 20 }, { mode: 'PARALLEL', concurrency: 10 }] as const) {
      const { merged, wronglyRemoved, brokenLanded } = measure([
        { workload, outcome: runSluice(workload, settings(variant)) },
      ]);
      const sound = workload.changes.filter(({ isBroken }) => !isBroken).length;
      assert.deepEqual({ merged, wronglyRemoved, brokenLanded }, { merged: sound, wronglyRemoved: 0, brokenLanded: 0 });
    }
  });

  it('searches and confirms without removing a change that needs an earlier one [K30]', () => {
    const recipe = { prs: 500, perHour: 48, p95Minutes: 15, failureRate: 0.05, breakRate: 0, conflictRate: 0 };
    const workload = draw('s11', 0, { ...recipe, needRate: 0.3, targets: 0 });
    const outcome = runSluice(workload, settings({ concurrency: 15, optimizationMode: 'ADAPTIVE', runCost: 4 }));
    const { wronglyRemoved, brokenLanded } = measure([{ workload, outcome }]);
    assert.deepEqual({ wronglyRemoved, brokenLanded }, { wronglyRemoved: 0, brokenLanded: 0 });
  });

  it('removes no innocent change for an outage of CI that lasts an hour [V72]', () => {
    for (const [index, variant] of [{ concurrency: 20 }, VARIANTS[2], VARIANTS[3], ADAPTIVE[1]].entries()) {
      const workload = draw(String(index), 0, { prs: 100, breakRate: 0, conflictRate: 0, targets: 0 });
      const outcome = runInOutage(workload, settings(variant ?? {}));
      const { wronglyRemoved, brokenLanded, undecided } = measure([{ workload, outcome }]);
      assert.deepEqual([wronglyRemoved, brokenLanded, undecided], [0, 0, 0], JSON.stringify(variant));
    }
  });

  it('begins with what the queue has learned', () => {
    const workload = draw('learned', 0, { prs: 400, perHour: Number.POSITIVE_INFINITY });
    const variant = settings(ADAPTIVE[0] ?? {});
    const learned = { ...NOTHING_LEARNED, flakes: { hits: 0, seen: 20 } };
    const sure = runSluice(workload, variant, { learned });
    assert.ok(sure.runs < runSluice(workload, variant).runs, 'a queue that has seen no flakes confirms nothing');
  });

  it('never beats the oracle', () => {
    for (const [index, variant] of VARIANTS.entries()) {
      const workload = draw(`oracle ${index}`, 0, { perHour: 6 });
      const oracle = runOracle(workload);
      const sluice = runSluice(workload, settings(variant));
      assert.deepEqual([...sluice.landedAt.keys()].sort(), [...oracle.landedAt.keys()].sort());
      const times = [sluice, oracle].map((outcome) => measure([{ workload, outcome }]).timeToLandMinutes);
      for (const name of ['p50', 'p95', 'p99'] as const) assert.ok((times[0]?.[name] ?? 0) >= (times[1]?.[name] ?? 0));
    }
  });

  it('gives the same for the same seed, and something else for another', () => {
    const play = (seed: string) => tell(runSluice(draw(seed, 0.05), settings({ batch: true })).landedAt);
    assert.equal(play('a'), play('a'));
    assert.notEqual(play('a'), play('b'));
  });
});

describe('a workload that is made up', () => {
  it('has the rates it was asked for', () => {
    const changes = generate({ ...RECIPE, prs: 20_000 });
    const share = (count: number) => count / changes.length;
    const durations = changes.map(({ durationMs }) => durationMs / 60_000).sort((a, b) => a - b);
    const hours = ((changes.at(-1)?.submittedAt ?? 0) - (changes[0]?.submittedAt ?? 0)) / HOUR_MS;
    const isNear = (value: number, expected: number) => assert.ok(Math.abs(value / expected - 1) < 0.06, `${value}`);
    isNear(changes.length / hours, 30);
    isNear(share(changes.filter(({ isBroken }) => isBroken).length), 0.1);
    isNear(durations[10_000] ?? 0, 10);
    isNear(durations[19_000] ?? 0, 20);
    assert.ok(changes.every(({ targets }) => targets?.length === 2));
  });

  it('has days and nights of the same size as a flat one', () => {
    const changes = generate({ ...RECIPE, prs: undefined, hours: 240, shape: 'day' });
    const atNight = changes.filter(({ submittedAt }) => new Date(submittedAt).getUTCHours() < 6);
    assert.ok(Math.abs(changes.length / (240 * 30) - 1) < 0.05);
    assert.ok(atNight.length < changes.length / 20);
  });

  it('keeps its arrivals when only the failure rate changes', () => {
    const arrivals = (failureRate: number) =>
      generate({ ...RECIPE, failureRate }).map(({ submittedAt }) => submittedAt);
    assert.deepEqual(arrivals(0), arrivals(0.5));
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { workloadOf } from '../../test/worlds/engine/workload-words.ts';
import type { PrNumber } from '../engine/model/pull-request.ts';
import { DEFAULT_SETTINGS, type QueueSettings } from '../engine/model/settings.ts';
import type { Sha } from '../lib/sha.ts';
import { type Forecasts, forecastQueue } from './forecast.ts';
import type { Pace } from './pace.ts';
import { beginQueue, beginRun, WorkloadWorld } from './sluice.ts';
import { MINUTE_MS, type Workload } from './workload.ts';

/** Runs took this many minutes, and nothing else takes time. */
function paceOf(minutes: readonly number[], arrivalMs?: number): Pace {
  const runs = minutes.map((took, index) => ({
    tested: [-1 - index],
    passed: true,
    tookMs: took * MINUTE_MS,
    checks: [{ name: 'ci', tookMs: took * MINUTE_MS }],
    endedAt: 0,
  }));
  return { runs, buildMs: [], landMs: [], arrivalMs };
}

/** The queue after some minutes of a workload. */
function queueAfter(minutes: number, workload: Workload, settings: Partial<QueueSettings>) {
  const world = new WorkloadWorld(workload, undefined);
  const run = beginRun(workload, beginQueue({ ...DEFAULT_SETTINGS, ...settings }), world);
  run.clock.at(minutes * MINUTE_MS, () => {});
  while (run.clock.now < minutes * MINUTE_MS && run.advance());
  return { queue: run.queue, now: minutes * MINUTE_MS };
}

interface Asked {
  readonly after: number;
  readonly settings?: Partial<QueueSettings>;
  readonly took?: readonly number[];
  readonly samples?: number;
}

function forecast(workload: Workload, { after, settings = {}, took = [10], samples = 40 }: Asked): Forecasts {
  const { queue, now } = queueAfter(after, workload, settings);
  return forecastQueue(queue, now, paceOf(took), { seed: '1', isEnough: (done) => done >= samples });
}

/** `1@10/12`: in minutes since the beginning, the median and the 95th percentile. */
function tell({ entries }: Forecasts): string {
  const minutes = (at: number | undefined) => (at === undefined ? '-' : Math.round(at / MINUTE_MS));
  return [...entries].map(([pr, f]) => `${pr}@${minutes(f.landsAtP50)}/${minutes(f.landsAtP95)}`).join(' ');
}

/** A failure is told once. */
const ONCE = { confirmFailures: 'NEVER' } as const;

const VARIANTS: readonly Partial<QueueSettings>[] = [
  { concurrency: 3 },
  { concurrency: 2, batch: true, batchingMinSize: 3, batchingMaxWaitTimeMinutes: 5 },
  { concurrency: 3, canOptimisticallyMerge: true, pendingFailureDepth: 2 },
  { concurrency: 3, optimizationMode: 'ADAPTIVE' },
  { mode: 'PARALLEL', concurrency: 4, optimizationMode: 'ADAPTIVE' },
];

describe('a forecast', () => {
  it('goes on from the runs under way, one slot after the other [Z2] [Z3]', () => {
    const told = forecast(workloadOf([{}, {}, {}]), { after: 4, settings: { ...ONCE, concurrency: 1 } });
    assert.match(tell(told), /^1@10\/10 2@20\/\d+ 3@30\/\d+$/);
    assert.equal(told.samples, 40);
    const next = (told.next?.landsAtP50 ?? 0) / MINUTE_MS;
    assert.ok(next >= 40 && next < 45, `${next}`);
  });

  it('draws the rest of a run from runs that took longer [Z3]', () => {
    const told = forecast(workloadOf([{ takes: 60 }]), {
      after: 12,
      settings: ONCE,
      took: [5, 10, 15, 20],
      samples: 100,
    });
    assert.match(tell(told), /^1@(15|16|17|18|19|20)\/20$/);
    const late = forecast(workloadOf([{ takes: 60 }]), { after: 30, settings: ONCE, took: [5, 10] });
    assert.match(tell(late), /^1@3\d\/4\d$/, 'longer than any run before');
  });

  it('believes in runs that passed, and divides the blame for one that failed [Z6]', () => {
    const pair = { concurrency: 1, batch: true, batchingMinSize: 2, batchingMaxWaitTimeMinutes: 5 } as const;
    const workload = workloadOf([{}, { isBroken: true }, { at: 1 }]);
    const chances = (after: number) => forecast(workload, { after, settings: pair });
    const chanceOf = (told: Forecasts, pr: number) => told.entries.get(pr as PrNumber)?.chanceToLand ?? Number.NaN;
    const before = chances(5);
    assert.ok(chanceOf(before, 1) > 0.7);
    const failed = chances(11);
    for (const pr of [1, 2]) assert.ok(Math.abs(chanceOf(failed, pr) - 0.5) < 0.15, `#${pr}: ${chanceOf(failed, pr)}`);
    assert.ok(chanceOf(failed, 3) > 0.5, 'it was not tested with them');
    assert.ok(chanceOf(failed, 3) < chanceOf(before, 3), 'but one of those failed, whichever it was');
  });

  it('divides the blame for a run of a search with those beneath it that are not cleared [Z6]', () => {
    const four = {
      concurrency: 4,
      batch: true,
      batchingMinSize: 4,
      optimizationMode: 'BISECTION_SKIP_REDUNDANT_TESTS',
    } as const;
    const told = forecast(workloadOf([{}, {}, { takes: 20, isBroken: true }, {}]), { after: 35, settings: four });
    const [third = 0, fourth = 0] = [3, 4].map((pr) => told.entries.get(pr as PrNumber)?.chanceToLand);
    for (const chance of [third, fourth]) assert.ok(chance > 0.2 && chance < 0.6, `${third} ${fourth}`);
  });

  it('knows an entry as broken whose run failed without flakes [Z6]', () => {
    const adaptive = { concurrency: 1, optimizationMode: 'ADAPTIVE' } as const;
    const { queue, now } = queueAfter(15, workloadOf([{ isBroken: true }]), adaptive);
    const sure = { ...queue, learned: { ...queue.learned, flakes: { hits: 0, seen: 1e6 } } };
    const told = forecastQueue(sure, now, paceOf([10]), { seed: '1', isEnough: (done) => done >= 4 });
    const [only] = told.entries.values();
    assert.ok((only?.chanceToLand ?? 1) < 0.1, `${only?.chanceToLand}`);
  });

  it('remembers why an entry was accused when it is tested for the last time [Z6]', () => {
    const workload = workloadOf([{ takes: 60 }, { isBroken: true }, {}, {}]);
    const told = forecast(workload, { after: 85, settings: { concurrency: 3, optimizationMode: 'ADAPTIVE' } });
    const chance = told.entries.get(2 as PrNumber)?.chanceToLand ?? 1;
    assert.ok(chance < 0.1, `${chance}`);
  });

  it('goes on where a former head is to be tested [Z2]', () => {
    const { queue, now } = queueAfter(4, workloadOf([{}, {}]), { concurrency: 1 });
    const base = { sha: 'former' as Sha, ordinal: 0, epoch: 1 };
    const doubted = { ...queue, suspicions: [{ base, removals: [], cleared: undefined, isDoubted: true as const }] };
    const told = forecastQueue(doubted, now, paceOf([10]), { seed: '1', isEnough: (done) => done >= 4 });
    assert.equal(told.entries.size, 2);
  });

  it('is the same for the same seed, and sound in every mode [Z2]', () => {
    const changes = Array.from({ length: 12 }, (_, index) => ({
      at: index * 3,
      isBroken: index % 5 === 3,
      targets: [`t${index % 3}`],
    }));
    for (const settings of VARIANTS) {
      const { queue, now } = queueAfter(25, workloadOf(changes), settings);
      const make = () =>
        forecastQueue(queue, now, paceOf([9, 10, 11], 3 * MINUTE_MS), { seed: '7', isEnough: (done) => done >= 6 });
      const told = make();
      assert.deepEqual(make(), told);
      assert.ok(told.entries.size > 0);
      for (const { landsAtP50 = now, landsAtP95 = now, chanceToLand } of told.entries.values()) {
        assert.ok(now <= landsAtP50 && landsAtP50 <= landsAtP95);
        assert.ok(chanceToLand >= 0 && chanceToLand <= 1);
      }
    }
  });
});

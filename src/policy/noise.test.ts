import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Candidate, type CandidateNumber, compositionOf } from '../engine/model/candidate.ts';
import { DEFAULT_SETTINGS, type QueueSettings } from '../engine/model/settings.ts';
import { Prng } from '../lib/prng.ts';
import type { TestEnd } from './engine-run.ts';
import { generate } from './generate.ts';
import type { SimulatedReport } from './simulated-tests.ts';
import { beginQueue, beginRun, WorkloadWorld } from './sluice.ts';
import type { Workload } from './workload.ts';

/** Reports name three kinds of failures: random tests, those that a change breaks, and those that a hostile change claims. */
interface Noise {
  /** How often each random test fails. */
  readonly rates: readonly number[];
  /** Changes whose runs fail every other time, in tests of others. */
  readonly hostile?: readonly number[];
}

const STABLE_TESTS = 20;

class NoisyWorld extends WorkloadWorld {
  readonly #random: Prng;
  readonly #noise: Noise;
  readonly #workload: Workload;
  readonly #failed = new Map<CandidateNumber, readonly string[]>();

  constructor(workload: Workload, noise: Noise) {
    super(workload, undefined);
    this.#workload = workload;
    this.#noise = noise;
    this.#random = new Prng(`noise ${workload.chance.seed}`);
  }

  override beginRun(candidate: Candidate): TestEnd {
    const end = super.beginRun(candidate);
    const numbers: readonly number[] = compositionOf(candidate).map(({ prNumber }) => prNumber);
    const broken = numbers.filter((number) => this.#workload.changes[number - 1]?.isBroken);
    const flaky = this.#noise.rates.flatMap((rate, test) => (this.#random.chance(rate) ? [`random${test}`] : []));
    const isHostile = numbers.some((number) => this.#noise.hostile?.includes(number)) && this.#random.chance(0.5);
    const claimed = isHostile ? Array.from({ length: STABLE_TESTS }, (_, test) => `stable${test}`) : [];
    const failed = [...broken.map((number) => `stable${number % STABLE_TESTS}`), ...flaky, ...claimed];
    this.#failed.set(candidate.number, [...new Set(failed)]);
    return { ...end, passes: end.passes && failed.length === 0 };
  }

  override reportOf(candidate: CandidateNumber): SimulatedReport {
    return { signature: (this.#failed.get(candidate) ?? []).map((id) => ({ id, name: id })) };
  }
}

const MODES: readonly Partial<QueueSettings>[] = [
  {},
  { batch: true, batchingMinSize: 4, optimizationMode: 'BISECTION_SKIP_REDUNDANT_TESTS' },
  { optimizationMode: 'ADAPTIVE', runCost: 4 },
];

/** Counts in three modes what became of changes that are neither broken nor hostile, and of broken ones. */
function play(seed: string, noise: Noise): readonly (readonly [innocentRemoved: number, brokenLanded: number])[] {
  const recipe = { shape: 'flat', hours: undefined, breakRate: 0, conflictRate: 0, needRate: 0 } as const;
  const figures = { prs: 150, perHour: 20, medianMinutes: 10, p95Minutes: 15, failureRate: 0.08 };
  const changes = generate({ ...recipe, ...figures, targets: 0, targetsPerPr: 0, seed });
  return MODES.map((mode) => {
    const workload: Workload = { source: 'test', changes, chance: { seed, flakeRate: 0, gitMs: 0 } };
    const world = new NoisyWorld(workload, noise);
    const run = beginRun(workload, beginQueue({ ...DEFAULT_SETTINGS, concurrency: 15, ...mode }), world);
    while (run.advance());
    const { removedAt, landedAt } = world.referee;
    const isInnocent = (number: number) => !isBroken(workload, number) && !noise.hostile?.includes(number);
    const removed = [...removedAt.keys()].filter(isInnocent);
    return [removed.length, [...landedAt.keys()].filter((number) => isBroken(workload, number)).length] as const;
  });
}

function isBroken({ changes }: Workload, number: number): boolean {
  return changes[number - 1]?.isBroken === true;
}

const NONE = MODES.map(() => [0, 0]);

describe('a queue whose reports name the failed tests', () => {
  it('removes no innocent change for tests that fail at random, and lands nothing that is broken [V66] [V67]', () => {
    for (const [index, rates] of [[0.1], [0.2], [0.05, 0.1], [0.02, 0.02, 0.02]].entries())
      assert.deepEqual(play(`noise${index}`, { rates }), NONE, rates.join());
  });

  it('removes no innocent change for failures that a hostile change claims in tests of others [V66] [V68]', () => {
    for (const seed of ['1', '2']) assert.deepEqual(play(seed, { rates: [0.05], hostile: [20, 45, 70] }), NONE);
  });
});

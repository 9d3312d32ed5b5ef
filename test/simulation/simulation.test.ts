import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { QUARANTINE_VERDICTS } from '../../src/engine/model/judgement.ts';
import {
  FIRST_ADAPTIVE_SEED,
  FIRST_API_SEED,
  FIRST_FREEZE_SEED,
  FIRST_QUARANTINE_SEED,
  FIRST_TROUBLED_SEED,
  type Stacks,
} from './conditions.ts';
import { MUST_OCCUR } from './coverage.ts';
import { FROZEN_SEEDS } from './frozen-seeds.ts';
import { simulate } from './simulate.ts';
import { describeFailure, Summary } from './summary.ts';
import { TROUBLES } from './troubles.ts';

/** 81 in all, besides the frozen ones. `npm run simulate` runs thousands. */
const SEEDS = 20;
const QUARANTINE_SEEDS = 12;
const API_SEEDS = 12;
const TROUBLED_SEEDS = 11;
const ADAPTIVE_SEEDS = 10;
const FREEZE_SEEDS = 8;
const STACKED_SEEDS = 8;
/** Rare events are searched for in this many times as many seeds. */
const MAX_ROUNDS = 10;
const FEW = 10;
const OF_MERGING = ['broken off after', 'broken off before', 'foreign push after', 'foreign push before', 'refused'];

/** In this thread: other test files use the other cores, and a thread for each test would load and compile all again. */
async function runAll(seeds: readonly number[], summary = new Summary([]), stacks?: Stacks): Promise<Summary> {
  for (const seed of seeds) summary.add(await simulate({ seed, stacks }));
  const [first] = summary.failed;
  const others = summary.failed.map(({ seed }) => seed).join(' ');
  if (first !== undefined) assert.fail(`${describeFailure(first)}\nfailed seeds: ${others}`);
  return summary;
}

/** Runs `count` seeds and the rare ones, then a few more at a time while something worth a test has not occurred. */
async function runUntilSeen({ from, count, rare = [], sights }: Coverage): Promise<Summary> {
  const summary = new Summary(sights);
  await runAll([...listSeeds(from, count), ...rare], summary);
  for (let next = from + count; summary.missing.length > 0 && next < from + MAX_ROUNDS * count; next += FEW)
    await runAll(listSeeds(next, FEW), summary);
  assert.deepEqual(summary.missing, [], 'everything that is worth a test occurs');
  return summary;
}

function listSeeds(from: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}

interface Coverage {
  readonly from: number;
  readonly count: number;
  /** Seeds in which something rare was last seen. They save a search. */
  readonly rare?: readonly number[];
  readonly sights: readonly string[];
}

describe('simulation', () => {
  const { stackTraceLimit } = Error;
  // Thousands of faults are thrown, and their stack traces are never read.
  before(() => {
    Error.stackTraceLimit = 4;
  });
  after(() => {
    Error.stackTraceLimit = stackTraceLimit;
  });

  it('is the same for the same seed', async () => {
    for (const seed of [3, 20, 41]) {
      const [one, two] = [await simulate({ seed }), await simulate({ seed })];
      assert.deepEqual([one.trace, one.tasks, one.coverage], [two.trace, two.tasks, two.coverage]);
      assert.notEqual(one.trace, '');
    }
  });

  it('keeps every invariant under the seeds that once broke one', async () => {
    await runAll([...new Set(FROZEN_SEEDS.map(([seed]) => seed))]);
  });

  it('keeps every invariant under many seeds, and settles [I1] [I3] [I4] [C11] [L1] [L2] [L5] [L7]', async (test) => {
    const summary = await runUntilSeen({
      from: 1,
      count: SEEDS,
      rare: [21, 26, 71, 261, 273, 432, 467],
      sights: MUST_OCCUR,
    });
    test.diagnostic(summary.speed);
  });

  it('keeps every invariant where failures are waived [V12] [V13] [V14]', async () => {
    const verdicts = QUARANTINE_VERDICTS.map((verdict) => `quarantine.${verdict}`);
    const sights = ['waived pass', ...verdicts];
    await runUntilSeen({ from: FIRST_QUARANTINE_SEED, count: QUARANTINE_SEEDS, rare: [10_013, 10_037], sights });
  });

  it('keeps every invariant where a merge API lands one by one [G20] [G21] [G22] [L9]', async () => {
    const landings = ['landed.PREFIX', 'landed.COMPOSED', 'landed.UNPROVEN', 'alarm.UNPROVEN_LANDING'];
    const sights = [...landings, ...OF_MERGING.map((what) => `merging.${what}`)];
    await runUntilSeen({ from: FIRST_API_SEED, count: API_SEEDS, rare: [20_125, 20_021, 20_027], sights });
  });

  it('keeps every invariant where the innocent look guilty [V10] [O1]', async () => {
    const sights = TROUBLES.map((trouble) => `trouble.${trouble}`);
    await runUntilSeen({ from: FIRST_TROUBLED_SEED, count: TROUBLED_SEEDS, sights });
  });

  it('keeps every invariant where the queue sizes its own groups and searches [K8] [K11] [K13]', async () => {
    await runUntilSeen({ from: FIRST_ADAPTIVE_SEED, count: ADAPTIVE_SEEDS, sights: ['state.FAILED', 'state.MERGED'] });
  });

  it('keeps every invariant where pull requests are stacked, also under seeds that once broke one [O31] [O35] [O43]', async () => {
    const found = [110, 416, 433, 10_164, 20_026, 30_175, 61_336, 61_861, 61_864, 1_000_101, 1_000_113, 2_000_138];
    const summary = await runAll([...found, ...listSeeds(1, STACKED_SEEDS)], undefined, { rate: 0.3, depth: 5 });
    assert.ok(summary.hasSeen('reason.STACKED_PR_BELOW_LEFT'));
  });

  it('keeps every invariant where freezes begin and end [Q13] [Q21]', async () => {
    await runUntilSeen({ from: FIRST_FREEZE_SEED, count: FREEZE_SEEDS, sights: ['thaw', 'landing in a freeze'] });
  });
});

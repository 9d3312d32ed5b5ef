import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QUARANTINE_VERDICTS } from '../../src/engine/judgement.ts';
import { FIRST_API_SEED, FIRST_QUARANTINE_SEED, FIRST_TROUBLED_SEED } from './conditions.ts';
import { FROZEN_SEEDS } from './frozen-seeds.ts';
import { runSeeds } from './run-seeds.ts';
import { simulate } from './simulate.ts';
import { describeFailure, Summary } from './summary.ts';
import { TROUBLES } from './troubles.ts';

const SEEDS = 1_500;
const QUARANTINE_SEEDS = 300;
const API_SEEDS = 300;
const TROUBLED_SEEDS = 250;
const OF_MERGING = ['broken off after', 'broken off before', 'foreign push after', 'foreign push before', 'refused'];

async function runAll(seeds: readonly number[]): Promise<Summary> {
  const summary = new Summary();
  await runSeeds({ seeds, onReport: (report) => summary.add(report) });
  const [first] = summary.failed;
  const others = summary.failed.map(({ seed }) => seed).join(' ');
  if (first !== undefined) assert.fail(`${describeFailure(first)}\nfailed seeds: ${others}`);
  return summary;
}

describe('simulation', () => {
  it('is the same for the same seed', async () => {
    for (const seed of [3, 20, 41]) {
      const [one, two] = [await simulate({ seed }), await simulate({ seed })];
      assert.deepEqual([one.trace, one.tasks, one.coverage], [two.trace, two.tasks, two.coverage]);
      assert.notEqual(one.trace, '');
    }
  });

  it('keeps every invariant under the seeds that once broke one', async () => {
    await runAll(FROZEN_SEEDS.map(([seed]) => seed));
  });

  it('keeps every invariant under thousands of seeds, and settles [I1] [I3] [I4] [C11] [L1] [L2] [L5] [L7]', async (test) => {
    const summary = await runAll(Array.from({ length: SEEDS }, (_, index) => index + 1));
    assert.deepEqual(summary.missing, [], 'everything that is worth a test occurs');
    test.diagnostic(summary.speed);
  });

  it('keeps them where failures are waived, too [V12] [V13] [V14]', async () => {
    const summary = await runAll(Array.from({ length: QUARANTINE_SEEDS }, (_, index) => FIRST_QUARANTINE_SEED + index));
    const verdicts = QUARANTINE_VERDICTS.map((verdict) => `quarantine.${verdict}`);
    assert.deepEqual(
      ['waived pass', ...verdicts].filter((what) => !summary.hasSeen(what)),
      [],
    );
  });

  it('keeps them where a merge API lands one by one, too [G20] [G21] [G22] [L9]', async () => {
    const summary = await runAll(Array.from({ length: API_SEEDS }, (_, index) => FIRST_API_SEED + index));
    const sights = ['landed.PREFIX', 'landed.COMPOSED', 'landed.UNPROVEN', 'alarm.UNPROVEN_LANDING'];
    assert.deepEqual(
      [...sights, ...OF_MERGING.map((what) => `merging.${what}`)].filter((what) => !summary.hasSeen(what)),
      [],
    );
  });

  it('keeps them where the innocent look guilty, too [V10] [O1]', async () => {
    const summary = await runAll(Array.from({ length: TROUBLED_SEEDS }, (_, index) => FIRST_TROUBLED_SEED + index));
    assert.deepEqual(
      TROUBLES.filter((trouble) => !summary.hasSeen(`trouble.${trouble}`)),
      [],
    );
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runSeeds } from './run-seeds.ts';
import { describeFailure, Summary } from './summary.ts';

/** The same plan can take another course each time. Many runs by hand find the bugs; these seeds are a smoke test. */
const SEEDS = [10, 16];

describe('simulation on GitHub, with real git', () => {
  it('keeps every invariant in the end, through random faults of GitHub, CI and people [G20] [G31] [G45] [L1]', async () => {
    const summary = new Summary([]);
    await runSeeds({ seeds: SEEDS, forge: 'github', jobs: 1, onReport: (report) => summary.add(report) });
    const [first] = summary.failed;
    if (first !== undefined) assert.fail(describeFailure(first));
    assert.deepEqual(
      ['state.MERGED', 'delivery.202', 'submit.comment'].filter((what) => !summary.hasSeen(what)),
      [],
    );
  });
});

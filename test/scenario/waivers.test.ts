import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play, story } from '../worlds/engine/story.ts';
import { numberOf } from '../worlds/engine/words.ts';

const ON = { honorQuarantine: 'ON' } as const;

describe('waivers that are withdrawn', () => {
  story('a queue that goes to SHADOW withdraws waivers that have decided nothing [V45]', ON)`
    with requiredStatuses=["ci","lint"]
    submit A; fail A; waive A  → A=testing
    set honorQuarantine=SHADOW → A=failed
  `;

  story('a held failure loses the waivers of its other checks [V45] [V9]', ON)`
    with requiredStatuses=["ci","lint"] pendingFailureDepth=1
    submit A B; fail A; waive A; report A ERROR by=lint started=-5m → A=held
    set honorQuarantine=OFF; report A SUCCESS by=lint started=-1m   → A=held; target M
  `;
});

describe('repetitions', () => {
  story('a restart of the server forgets no repetition [V56] [V25]', ON)`
    submit A; fail A; repeat A; interrupt A; fail A; repeat A → A=testing
    fail A; repeat A                                          → A=failed
  `;
});

describe('judgements', () => {
  story('the first judgement of an attempt counts [V44]', ON)`
    with requiredStatuses=["ci","lint"]
    submit A; fail A; waive A; deny A; pass A by=lint → A=merged
  `;

  it('a check that is not required any more adds no waiver to a landing [V13] [C28]', () => {
    const told = play(ON)`
      with requiredStatuses=["ci","unit"]
      submit A; fail A; waive A; set requiredStatuses=["lint"]; pass A by=lint → A=merged
    `;
    assert.equal(told.ended.get(numberOf('A'))?.landed?.waived, undefined);
  });

  it('a failure names no judgement of a check that it did not fail by [V46] [V56]', () => {
    const told = play(ON)`
      with requiredStatuses=["ci","lint"]
      submit A; fail A; repeat A; report A ERROR by=lint → A=failed
    `;
    assert.equal(told.lastOf('A')?.because.denied, undefined);
  });
});

describe('excuses of a pass that was taken over', () => {
  it('a landing whose pass was taken over records the excuses of the run that passed [V57] [C10]', () => {
    const told = play()`
      with batch=true batchingMinSize=2
      submit A B; fail AB; green ~A; waive ~A tests=t1 → A=merged; runs AB ~A ~A+B
    `;
    const tests = [{ id: 't1', name: 't1' }];
    assert.deepEqual(told.ended.get(numberOf('A'))?.landed?.excused, [{ check: 'ci', tests }]);
  });
});

describe('the pass that later runs are compared with', () => {
  it('a landing whose pass was taken over counts with the run that passed [V49] [C10]', () => {
    const told = play()`
      with batch=true batchingMinSize=2
      submit A B; fail AB; pass ~A → A=merged; runs AB ~A ~A+B
    `;
    assert.deepEqual(told.queue.lastPasses, [{ check: 'ci', candidate: 2 }]);
  });
});

describe('a landing that has begun', () => {
  story('a landing that has begun lands all it vouches for though optimistic merging is switched off [V29] [L7]', {
    canOptimisticallyMerge: true,
  })`
    hold landings; submit A B; pass A+B; set canOptimisticallyMerge=false → AB=passed
    release landings                                                      → AB=merged
  `;
});

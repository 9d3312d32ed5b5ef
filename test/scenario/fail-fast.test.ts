import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play, story } from '../worlds/engine/story.ts';
import { numberOf } from '../worlds/engine/words.ts';

const SHARDS = { failFastStatuses: ['shard-*'] } as const;

describe('fail-fast checks', () => {
  for (const conclusion of ['FAILURE', 'ERROR', 'TIMED_OUT', 'ACTION_REQUIRED']) {
    story(`a fail-fast check with ${conclusion} fails the candidate while the required one runs [V83]`, SHARDS)`
      submit A B; report A RUNNING; report A ${conclusion} by=shard-2 → A=failed B=testing
                                                                     → why A=TEST_RUN_REQUIRED_STATUS_FAILED
                                                                     → checks A=shard-2; runs A A+B B
    `;
  }

  story('a fail-fast check never counts as a pass, and is never waited for [V83] [V1]', SHARDS)`
    submit A; pass A by=shard-1; cut A by=shard-2; report A SKIPPED by=shard-3 → A=testing; runs A
    pass A                                                                     → A=merged
    submit B; pass B                                                           → B=merged
  `;

  story('checks of other names fail no candidate [V83]', SHARDS)`
    submit A; fail A by=shards; fail A by=a-shard-1 → A=testing
    pass A                                          → A=merged
  `;

  story('a pattern stands for any text between its stars [V83]', { failFastStatuses: ['a*c*e'] })`
    submit A; fail A by=ace1; fail A by=ae; fail A by=aec → A=testing
    fail A by=abccde                                      → A=failed; checks A=abccde
  `;

  story('a required check that a pattern names too is a required one [V83] [G65]', {
    failFastStatuses: [{ name: '*', app: 'matrix' }],
  })`
    submit A; fail A by=lint → A=testing
    pass A                   → A=merged
  `;

  story('a failure beneath others is held, and a newer attempt suspends it [V83] [V26]', SHARDS)`
    submit A B; report A+B FAILURE by=shard-1 started=-5m → A=testing B=held
    report A+B RUNNING by=shard-1 started=-1m             → B=testing
    pass A; report B SUCCESS by=shard-1 started=-1m       → A=merged B=testing
    pass B                                                → B=merged
  `;

  story('a batch with a failed fail-fast check is searched at once [V83] [V5]', {
    ...SHARDS,
    batch: true,
    batchingMinSize: 2,
  })`
    together A B; fail AB by=shard-1 → AB=testing; runs AB ~A ~A+B
    pass ~A; fail ~A+B by=shard-1    → A=merged B=failed; checks B=shard-1
  `;

  story('a failed fail-fast check is confirmed alone like a required one [V83] [V66]', {
    ...SHARDS,
    confirmFailures: 'AUTO',
  })`
    submit A; fail A by=shard-1 → A=held
  `;
});

describe('judgements of fail-fast checks', () => {
  const ON = { ...SHARDS, honorQuarantine: 'ON' } as const;

  story('a fail-fast check whose failed tests are excused fails nothing [V84] [V13]', ON)`
    submit A; fail A by=shard-1 → A=testing
    waive A by=shard-1          → A=testing
    pass A                      → A=merged
  `;

  story('a fail-fast check fails the candidate once its tests are not excused [V84] [V12]', ON)`
    submit A; fail A by=shard-1; deny A by=shard-1 → A=failed; checks A=shard-1
    submit B; fail B by=shard-1; wait 1m           → B=failed; checks B=shard-1
  `;

  story('tests that a repetition may excuse fail no candidate early [V84] [V56]', ON)`
    submit A; fail A by=shard-1; repeat A by=shard-1 → A=testing; runs A
    pass A                                           → A=merged
  `;

  it('an excuse of a fail-fast check is none of the pass, and a late judgement takes nothing back [V84] [V57] [V63]', () => {
    const told = play(ON)`submit A; fail A by=shard-1; waive A by=shard-1; pass A → A=merged`;
    assert.equal(told.ended.get(numberOf('A'))?.landed?.waived, undefined);
    play(ON)`
      submit A B; fail A+B by=shard-1; pass A+B → B=passed
      deny A+B by=shard-1                       → B=passed
      pass A                                    → AB=merged
    `;
  });

  it('a last pass of a fail-fast check is remembered, so that its failures can be excused [V84] [V49]', () => {
    const told = play(SHARDS)`
      submit A; pass A by=shard-1; pass A by=other; pass A → A=merged
      submit B; pass B by=shard-2; pass B                  → B=merged
    `;
    const { lastPasses } = told.queue;
    assert.deepEqual(lastPasses.map(({ check, candidate }) => [check, candidate]).toSorted(), [
      ['ci', 2],
      ['shard-1', 1],
      ['shard-2', 2],
    ]);
  });
});

describe('the setting of a fail-fast check', () => {
  story('a candidate keeps the fail-fast checks of the time when its commit was built [V85]')`
    submit A; set failFastStatuses=["shard-1"]; fail A by=shard-1 → A=testing
    pass A                                                       → A=merged
    submit B; fail B by=shard-1                                  → B=failed
  `;

  story('blames nobody for a check that is no fail-fast check any more [V85]', SHARDS)`
    submit A B; fail A+B by=shard-1 → A=testing B=held
    set failFastStatuses=[]         → B=testing
    pass A+B; pass A                → AB=merged
  `;
});

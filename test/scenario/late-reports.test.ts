import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Scenario } from '../worlds/engine/scenario.ts';
import { play, story } from '../worlds/engine/story.ts';
import { numberOf } from '../worlds/engine/words.ts';

/** A lands by a check whose reports came so long after its result. */
function land(told: Scenario, reportsAfterMs?: number): void {
  told.play('submit A; green A');
  const finding = {
    check: 'ci',
    attempt: undefined,
    tests: [],
    isWaived: true,
    ...(reportsAfterMs && { reportsAfterMs }),
  };
  told.judgeCheck(told.candidate('A').number, finding);
  told.play('→ A=merged');
}

/** How long the reports of the next check are waited for. */
function waitMs(told: Scenario): number {
  told.play('submit Z; green Z; cancel Z');
  return (told.judgements.at(-1)?.reportsUntil ?? 0) - told.now;
}

/** Reports of A arrive after its landing, and this test failed in them. */
function reportLate(told: Scenario, more: { readonly check?: string; readonly isWaived?: boolean } = {}): void {
  const late = { check: 'ci', attempt: undefined, tests: ['late'], isLate: true, isWaived: false, ...more } as const;
  told.judgeCheck([...told.endedCandidates.keys()][0] as never, late);
}

function excusedTests(told: Scenario): (string | undefined)[] {
  return told.ended.get(numberOf('A'))?.landed?.excused?.map(({ tests }) => tests[0]?.id) ?? [];
}

describe('the wait for reports of a passed check', () => {
  it('reports are waited for as long as all but the slowest of 20 took [V58]', () => {
    const told = play()``;
    for (let seconds = 1; seconds <= 20; seconds += 1) land(told, seconds * 1_000);
    assert.equal(waitMs(told), 19_000);
    for (let index = 0; index < 20; index += 1) land(told, 1_000);
    assert.equal(waitMs(told), 1_000);
  });

  it('reports are waited for while any of the last 20 runs had some [V58]', () => {
    const told = play()``;
    land(told, 3_000);
    for (let index = 0; index < 19; index += 1) land(told);
    assert.equal(waitMs(told), 3_000);
    land(told);
    assert.equal(waitMs(told), 0);
  });

  it('reports are waited for a minute at most [V58]', () => {
    const told = play()``;
    land(told, 90_000);
    assert.equal(waitMs(told), 60_000);
  });
});

describe('reports that come after the landing', () => {
  it('a paused queue does not test its head for late reports [V61] [V11]', () => {
    const told = play()`submit A; green A; wait 1m; pause → A=merged`;
    reportLate(told);
    told.play('→ alarm LATE_REPORTS; testing nothing');
  });

  it('late reports of two checks test the head once [V61]', () => {
    const told = play()`
      with requiredStatuses=["ci","lint"]
      submit A; green A; green A by=lint; wait 1m → A=merged
    `;
    reportLate(told);
    reportLate(told, { check: 'lint' });
    told.play('→ testing HEAD; runs A HEAD');
  });

  it('late reports whose failures are excused amend the record and raise no alarm [V61]', () => {
    const told = play()`submit A; green A; wait 1m → A=merged`;
    reportLate(told, { isWaived: true });
    told.play('→ alarm nothing; testing nothing');
    assert.deepEqual(excusedTests(told), ['late']);
  });

  it('late reports add to the excuses of the landing [V61] [V57]', () => {
    const told = play()`
      with requiredStatuses=["ci","lint"]
      submit A; green A; waive A tests=known; green A by=lint; wait 1m → A=merged
    `;
    reportLate(told, { check: 'lint' });
    assert.deepEqual(excusedTests(told), ['known', 'late']);
  });

  it('late reports with a failure leave their tree unproven for others [V63]', () => {
    const told = play()`empty E; submit A; green A; wait 1m → A=merged`;
    reportLate(told);
    told.play('submit E → E=testing; runs A HEAD');
  });

  it('late reports leave the record of a pull request that was submitted again [V61]', () => {
    const told = play()`submit A; green A; wait 1m; submit A → A=testing`;
    reportLate(told);
    assert.deepEqual(excusedTests(told), []);
  });
});

describe('a repetition', () => {
  story('a repetition runs though an equal tree is under test [V62] [C10]', { honorQuarantine: 'ON' })`
    empty E; submit A E        → runs A
    fail A; repeat A           → runs A A+E A
    pass A E                   → AE=merged
  `;
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CandidateNumber } from '../../src/engine/model/candidate.ts';
import { findEntry } from '../../src/engine/model/queue.ts';
import { nextWakeAt } from '../../src/engine/wake.ts';
import { explain } from '../../src/words/explain.ts';
import type { ExplanationReason } from '../../src/words/explanation.ts';
import { changeText } from '../../src/words/reasons.ts';
import { pluck } from '../helpers/pluck.ts';
import { NOON, type Scenario } from '../worlds/engine/scenario.ts';
import { play, story } from '../worlds/engine/story.ts';
import { numberOf } from '../worlds/engine/words.ts';

const ON = { honorQuarantine: 'ON' } as const;
const SHADOW = { honorQuarantine: 'SHADOW' } as const;

function explanationOf(told: Scenario, name: string): string[] {
  const live = findEntry(told.queue, numberOf(name));
  const ended = told.ended.get(numberOf(name));
  const entry = live ?? ended;
  assert.ok(entry !== undefined);
  const number = live === undefined ? entry.because.candidate : undefined;
  const last = number === undefined ? undefined : told.endedCandidates.get(number);
  const codes = (reasons: readonly ExplanationReason[]): string[] =>
    reasons.flatMap((reason) => [reason.code, ...codes(reason.reasons)]);
  return codes(explain(told.queue, entry, told.now, { last }).reasons);
}

describe('a queue that honors quarantine', () => {
  it('waits for a judgement of a failure, and lands what is waived [V12] [V13]', () => {
    const told = play(ON)`submit A; fail A → A=testing`;
    assert.deepEqual(told.asked, ['A ci']);
    assert.ok(explanationOf(told, 'A').includes('JUDGEMENT_OPEN'));
    told.play('waive A tests=t1,t2 → A=merged; target M+A');
    const landed = told.ended.get(numberOf('A'))?.landed;
    const tests = [
      { id: 't1', name: 't1' },
      { id: 't2', name: 't2' },
    ];
    assert.deepEqual(landed?.waived, [{ check: 'ci', tests }]);
    assert.ok(explanationOf(told, 'A').includes('WAIVED'));
    const passed = told.trailOf('A').find(({ to }) => to === 'TESTS_PASSED');
    assert.match(textOf(passed), /Waived: ci failed only in quarantined tests \(t1, t2\)\./);
  });

  it('fails what is not waived, and says why [V46]', () => {
    const told = play(ON)`submit A; fail A; deny A → A=failed; why A=TEST_RUN_REQUIRED_STATUS_FAILED`;
    assert.match(textOf(told.lastOf('A')), /The failure of ci was not waived: Some that failed are not quarantined\./);
    assert.deepEqual(explanationOf(told, 'A').slice(-2), ['NOT_WAIVED', 'TEST_FAILED']);
    assert.equal(told.ended.get(numberOf('A'))?.landed, undefined);
  });

  it('waits 60 seconds, and no longer [V12]', () => {
    const told = play(ON)`submit A; fail A`;
    assert.equal(nextWakeAt(told.queue, told.now), NOON + 60_000);
    told.play(`
      wait 59999ms → A=testing
      wait 1ms     → A=failed
    `);
    assert.match(textOf(told.lastOf('A')), /were not processed within 60 seconds/);
    // A later judgement has no effect.
    assert.equal(told.judgeCheck(1 as CandidateNumber, waived('ci')).outcome.kind, 'ignored');
  });

  it('asks only about plain failures of required checks [V44]', () => {
    for (const conclusion of ['TIMED_OUT', 'ERROR', 'ACTION_REQUIRED']) {
      const told = play(ON)`submit A; report A ${conclusion} → A=failed`;
      assert.deepEqual(told.asked, [], conclusion);
    }
    const others = play(ON)`submit A; report A FAILURE by=nightly; cut A → A=testing`;
    assert.deepEqual(others.asked, []);
  });

  it('takes no judgement of an earlier attempt for a later one [V44] [V2]', () => {
    const told = play(ON)`
      submit A; report A FAILURE started=-5m
      report A RUNNING started=-1m; waive A started=-5m → A=testing
      report A FAILURE started=-1m; waive A started=-5m → A=testing
      deny A started=-1m → A=failed
    `;
    assert.deepEqual(told.asked, ['A ci', 'A ci']);
  });

  story('lets a newer attempt overrule a waiver that has not decided anything yet [V44] [V9]', ON)`
    with requiredStatuses=["ci","lint"]
    submit A; report A FAILURE started=-5m; waive A started=-5m
    report A FAILURE started=-1m; pass A by=lint → A=testing
    deny A started=-1m → A=failed
  `;

  story('is decided by another check that fails for good, without waiting [V12] [V22]', ON)`
    with requiredStatuses=["ci","lint"]
    submit A; fail A; report A ERROR by=lint → A=failed
  `;

  it('needs every failed check to be waived [V12]', () => {
    const told = play(ON)`
      with requiredStatuses=["ci","lint"]
      submit A; fail A; waive A tests=x       → A=testing
      fail A by=lint; waive A tests=y by=lint → A=merged
    `;
    assert.deepEqual(pluck(told.ended.get(numberOf('A'))?.landed?.waived, 'check'), ['ci', 'lint']);
  });

  it('blames the wait for a judgement on nobody, when the time for testing ends meanwhile [V12] [V23]', () => {
    play(ON)`
      with testingTimeoutMinutes=1
      submit A; wait 59000ms; fail A; wait 2000ms → A=testing
      waive A → A=merged
    `;
    const told = play(ON)`with testingTimeoutMinutes=1; submit A; wait 59000ms; fail A; wait 2m → A=failed`;
    assert.equal(told.lastOf('A')?.because.reason, 'TEST_RUN_REQUIRED_STATUS_FAILED');
  });

  it('takes back what was waived and has decided nothing yet, once it is told to stop [V45]', () => {
    const told = play(ON)`
      with requiredStatuses=["ci","lint"]
      submit A; fail A; waive A → A=testing
      set honorQuarantine=OFF   → A=failed
    `;
    assert.ok(explanationOf(told, 'A').includes('WOULD_BE_WAIVED'));
  });

  it('knows which attempts may find results of an earlier one [V48]', () => {
    const told = play(ON)`
      submit A; report A QUEUED started=-6m
      report A RUNNING started=-5m; report A FAILURE started=-5m
    `;
    assert.equal(told.candidate('A').checks[0]?.isRepeated, undefined);
    told.play('report A RUNNING started=-1m; report A FAILURE started=-1m');
    assert.equal(told.candidate('A').checks[0]?.isRepeated, true);
  });

  it('waives nothing any more once it is told to stop [V45]', () => {
    const told = play(ON)`submit A; fail A; set honorQuarantine=OFF; waive A → A=failed`;
    assert.ok(explanationOf(told, 'A').includes('WOULD_BE_WAIVED'));
  });
});

describe('a pass by a waiver', () => {
  story('vouches for nobody ahead [V47] [V8]', ON)`
    with canOptimisticallyMerge=true
    submit A B; fail A+B; waive A+B → A=testing B=passed
    pass A                          → AB=merged
  `;

  it('is not reused, nor taken over by an equal tree that waited for it [V47] [C10]', () => {
    const told = play(ON)`with mode=PARALLEL; empty E; submit A[x] E[x]; fail A; waive A → A=merged E=testing`;
    assert.deepEqual(told.runs, ['A', 'E']);
    told.play('pass E → E=merged');
  });

  it('proves nothing for what comes back from a bisection [V47] [B3]', () => {
    const told = play(ON)`
      with batch=true batchingMinSize=2
      submit A B; fail AB; deny AB; fail ~A; waive ~A; fail ~A+B
      deny ~A+B → A=testing B=failed
      pass A    → A=merged
    `;
    assert.equal(told.ended.get(numberOf('A'))?.landed?.waived, undefined);
  });

  it('is not what later runs are compared with [V49]', () => {
    const told = play(ON)`submit A; pass A → A=merged`;
    assert.deepEqual(told.queue.lastPasses, [{ check: 'ci', candidate: 1 }]);
    told.play('submit B; fail B; waive B → B=merged');
    assert.deepEqual(told.queue.lastPasses, [{ check: 'ci', candidate: 1 }]);
    told.play('submit C');
    assert.deepEqual(told.candidate('C').lastPasses, [{ check: 'ci', candidate: 1 }]);
    told.play('pass C → C=merged');
    assert.deepEqual(told.queue.lastPasses, [{ check: 'ci', candidate: 3 }]);
  });
});

describe('a queue that only looks at quarantine', () => {
  it('decides without waiting, and says afterwards what would have been waived [V14]', () => {
    const told = play(SHADOW)`submit A; fail A → A=failed`;
    assert.deepEqual(told.asked, ['A ci']);
    const step = told.judgeCheck(1 as CandidateNumber, waived('ci'));
    assert.equal(step.outcome.kind, 'applied');
    assert.deepEqual([step.transitions, step.effects, step.ended], [[], [], []]);
    told.play('→ A=failed');
    assert.deepEqual(explanationOf(told, 'A').slice(-2), ['WOULD_BE_WAIVED', 'TEST_QUARANTINED']);
  });

  it('changes nothing for one that is still held, either [V14] [V4]', () => {
    const told = play(SHADOW)`submit A B; fail A+B; waive A+B → A=testing B=held`;
    assert.ok(explanationOf(told, 'B').includes('WOULD_BE_WAIVED'));
    told.play('pass A → A=merged B=failed');
  });

  it('says so as well where nothing would have been waived [V14]', () => {
    const told = play(SHADOW)`submit A B; fail A+B; deny A+B`;
    assert.ok(explanationOf(told, 'B').includes('WOULD_NOT_BE_WAIVED'));
  });

  it('asks nobody where it is switched off [V14]', () => {
    const told = play()`with honorQuarantine=OFF; submit A; fail A → A=failed`;
    assert.deepEqual(told.asked, []);
  });
});

function waived(check: string) {
  return { check, attempt: undefined, tests: ['t'], isWaived: true };
}

function textOf(transition: Scenario['transitions'][number] | undefined): string {
  assert.ok(transition !== undefined);
  return changeText({ ...transition, branch: 'main' });
}

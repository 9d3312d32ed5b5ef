import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { quarantineVerdictOf } from '../../src/engine/model/judgement.ts';
import { changeText } from '../../src/words/reasons.ts';
import { play, story } from '../worlds/engine/story.ts';
import { numberOf } from '../worlds/engine/words.ts';

const ON = { honorQuarantine: 'ON' } as const;
const BATCH = { ...ON, batch: true, batchingMinSize: 2 } as const;
const ONE = { ...ON, optimizationMode: 'ADAPTIVE', concurrency: 1 } as const;

describe('a run in which only tests failed that are quarantined automatically', () => {
  it('is repeated in its place, and lands if it passes [V56] [V59]', () => {
    const told = play(ON)`submit A B; fail A; repeat A tests=spins → A=testing B=testing; runs A A+B A; testing A A+B`;
    assert.deepEqual(told.candidate('A').repeats, [1]);
    const [repeated] = told.trailOf('A').filter(({ because }) => because.reason === 'TEST_RUN_REPEATED');
    assert.ok(repeated !== undefined);
    assert.equal(
      changeText({ ...repeated, branch: 'main' }),
      'The check ci is repeated (run 2 of 3): spins failed, is flaky and must pass once.',
    );
    told.play('pass A B → AB=merged; runs A A+B A');
    assert.equal(told.ended.get(numberOf('A'))?.landed?.waived, undefined);
  });

  it('is repeated twice at most, and has failed then [V56] [V5]', () => {
    const told = play(ON)`submit A; fail A; repeat A; fail A; repeat A; fail A; repeat A → A=failed; runs A A A`;
    assert.equal(told.lastOf('A')?.because.reason, 'TEST_RUN_REQUIRED_STATUS_FAILED');
  });

  story('begins anew where the tests are restarted [V56] [C12]', ON)`
    submit A; fail A; repeat A; fail A; repeat A; restart A
    fail A; repeat A; fail A; repeat A → A=testing
    pass A                             → A=merged
  `;

  story('counts on after an attempt without a result [V56] [V3]', ON)`
    submit A; fail A; repeat A; fail A; repeat A; cut A; fail A; repeat A → A=failed
  `;

  story('is not repeated where another check fails for good [V56] [V22]', ON)`
    with requiredStatuses=["ci","lint"]
    submit A; fail A; repeat A → A=testing; runs A
    report A ERROR by=lint     → A=failed
  `;

  story('waits for its other checks before it is repeated [V56]', ON)`
    with requiredStatuses=["ci","lint"]
    submit A; fail A; repeat A; pass A by=lint → A=testing; runs A A
  `;

  story('waits in a paused queue [V62] [V11]', ON)`
    submit A; fail A; pause; repeat A → A=pending; runs A
    resume; pass A                    → A=merged
  `;

  story('is repeated as a whole before any search [V56] [B3]', BATCH)`
    submit A B; fail AB; repeat AB → AB=testing; runs AB AB
    pass AB                        → AB=merged
  `;

  story('is repeated within a search, too [V56] [B3]', BATCH)`
    submit A B; fail AB; deny AB; fail ~A; repeat ~A → testing ~A+B ~A
    pass ~A; fail ~A+B; deny ~A+B                    → B=failed A=merged
  `;

  story('of the head is repeated, and does not make the queue hold [V56] [V16]', ON)`
    submit A B C; fail A; deny A; fail B; deny B; fail C; deny C → testing HEAD; C=held
    fail HEAD; repeat HEAD                                       → testing HEAD; C=held; alarm nothing
    pass HEAD                                                    → ABC=failed
  `;

  it('neither takes over nor waits for an equal tree [V62] [C10]', () => {
    const told = play(ON)`with mode=PARALLEL; empty E; submit A[x]; fail A; submit E[y]; repeat A`;
    told.play('→ A=testing E=testing; runs A E A');
  });

  it('fails at once where the queue does not honor quarantine, and says what would have been [V14]', () => {
    const told = play({ honorQuarantine: 'SHADOW' })`submit A B; fail A+B; repeat A+B → B=held; runs A A+B`;
    const [check] = told.candidate('A+B').checks;
    assert.equal(check?.judgement && quarantineVerdictOf(check.judgement), 'WOULD_BE_REPEATED');
  });

  story('is judged too where its check is required only since it passed [V55] [C28]')`
    submit A; green A by=new; set requiredStatuses=["new"] → A=testing
    repeat A by=new                                        → A=testing; runs A A
  `;

  story('is not repeated any more once the queue stopped honoring quarantine [V45] [V56]', ON)`
    with requiredStatuses=["ci","lint"]
    submit A; fail A; repeat A; set honorQuarantine=OFF → A=failed; runs A
  `;
});

describe('a check that passes in a repository with uploads', () => {
  for (const honorQuarantine of ['OFF', 'SHADOW', 'ON'] as const) {
    story(`counts when its reports are read, with honorQuarantine ${honorQuarantine} [V55]`, { honorQuarantine })`
      submit A B; green A → A=testing
      clean A             → A=merged B=testing
    `;

    story(`is repeated for failed tests that are quarantined automatically, with ${honorQuarantine} [V55] [V56]`, {
      honorQuarantine,
    })`
      submit A; green A; repeat A → A=testing; runs A A
      green A; repeat A; green A  → A=testing; runs A A A
      repeat A                    → A=failed; why A=TEST_RUN_REQUIRED_STATUS_FAILED
    `;
  }

  it('records the failed tests that are excused, and proves as much as any pass [V57] [V55]', () => {
    const told = play()`with canOptimisticallyMerge=true; submit A B; green A+B; waive A+B tests=t1 → AB=merged`;
    const excused = told.ended.get(numberOf('B'))?.landed?.excused;
    assert.deepEqual(excused, [{ check: 'ci', tests: [{ id: 't1', name: 't1' }] }]);
    assert.equal(told.ended.get(numberOf('B'))?.landed?.waived, undefined);
    assert.deepEqual(told.queue.lastPasses, [{ check: 'ci', candidate: 2 }]);
  });

  story('vouches and is reused only when it is settled [V55] [V8] [C10]', {})`
    with canOptimisticallyMerge=true
    submit A B; green A+B → AB=testing
    clean A+B             → AB=merged
  `;

  story('counts after a minute without a word about its reports [V58]', {})`
    submit A; green A; wait 59999ms → A=testing
    wait 1ms                        → A=merged
  `;

  it('has its reports waited for as long as those of the last runs that landed took [V58]', () => {
    const told = play()`submit A; green A; clean A; submit B; green B → A=merged B=testing`;
    assert.deepEqual(told.queue.reportDelays, [{ check: 'ci', delaysMs: [3_000] }]);
    assert.deepEqual(
      told.judgements.map(({ reportsUntil = 0 }) => reportsUntil - told.now),
      [0, 3_000],
    );
  });

  story('whose reports come before the landing does not land, nor what took its pass over [V63]', {})`
    empty E; submit A B E; green A+B; wait 1m → B=passed E=passed
    repeat A+B                                → B=testing E=testing
    pass A                                    → A=merged B=testing E=testing
    green B; clean B                          → BE=merged
  `;

  story('has failed by reports before the landing when the repetitions are over [V63] [V5]', {})`
    submit A B; green A+B; repeat A+B; green A+B; repeat A+B; green A+B; wait 1m → B=passed
    deny A+B                                                                     → B=held
    pass A                                                                       → A=merged B=failed
  `;

  it('whose reports come after the landing amends the record, and has the head tested [V61]', () => {
    const told = play()`submit A; green A; wait 1m → A=merged`;
    const late = { check: 'ci', attempt: undefined, tests: ['t'], isLate: true } as const;
    told.judgeCheck(told.endedCandidates.keys().next().value as never, { ...late, isWaived: false, isRepeat: true });
    told.play('→ testing HEAD; alarm LATE_REPORTS');
    assert.deepEqual(told.ended.get(numberOf('A'))?.landed?.excused?.[0]?.tests[0]?.id, 't');
  });
});

describe('a pass by a waiver', () => {
  story('of a head proves nothing: the next entry that fails has it tested again [V47] [K13]', ONE)`
    submit A; fail A; deny A                                  → testing ~A HEAD
    fail HEAD; waive HEAD; fail ~A; deny ~A; fail ~A; deny ~A → A=failed
    submit B; fail B; deny B                                  → testing ~B HEAD
  `;

  story('of a head that is tested beside a run of its own does not prove it either [V47] [V73]', ONE)`
    with mode=PARALLEL concurrency=2
    submit A[x]; fail A; deny A; fail HEAD; waive HEAD; cancel A → testing nothing
    wait 61m; submit B[x] C[y]; fail B; deny B → testing C ~B HEAD
  `;

  story('of a prefix gives its members no way to land without a run [V47] [K16]', ONE)`
    seasoned; together A B C D; fail ABCD; deny ABCD
    fail ~AB; waive ~AB → AB=pending; testing ~AB+C; target M
  `;
});

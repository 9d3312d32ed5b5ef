import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play, story } from '../worlds/engine/story.ts';

const ON = { honorQuarantine: 'ON' } as const;

describe('a head that passed by itself', () => {
  story('the head is trusted for an hour, and is suspected again from then on [V34]')`
    with concurrency=8
    submit A B C D E F G; fail A B; pass HEAD
    wait 59m; wait 59999ms; fail C D → ABCD=failed; testing E E+F E+F+G
    wait 1ms; fail E F               → EF=failed; testing G HEAD
  `;
});

describe('a landing by a waiver', () => {
  story(
    'a landing by a waiver keeps the removals for the waived check as evidence against the new head [V47] [V10]',
    ON,
  )`
    submit A B C D; fail A; deny A → A=failed
    fail B; waive B                → B=merged
    fail C; deny C                 → C=failed; testing D HEAD
  `;

  story('a landing by a waiver keeps the suspicion of a head that failed the waived check [V47] [V35]', ON)`
    submit A B; fail A; deny A; fail B; deny B; fail HEAD; deny HEAD → AB=pending; alarm RED_TARGET
    resume; fail A; waive A → A=merged
    fail B; deny B          → B=held; testing HEAD
  `;

  story('a landing by a waiver does not prove the new head, which is tested before an entry is removed [V47] [K13]', {
    ...ON,
    optimizationMode: 'ADAPTIVE',
    mode: 'PARALLEL',
  })`
    seasoned; submit A[x] D[y]; fail A; waive A → A=merged
    submit B[x]; fail B; deny B                 → B=held; testing D ~B HEAD
  `;
});

describe('a composed landing', () => {
  story('a composed landing does not prove the new head, because its tree was not tested [K13] [L20]', {
    optimizationMode: 'ADAPTIVE',
    mode: 'PARALLEL',
  })`
    seasoned; submit A[x]; submit B[y]; pass A B → proof B=COMPOSED+A
    submit C[x]; fail C                          → C=held; testing ~C HEAD
    fail ~C                                      → C=held; testing HEAD
    pass HEAD                                    → C=failed
  `;
});

describe('evidence against a head', () => {
  story('a head whose checks pass may still have a broken configuration [V34] [V20]')`
    with concurrency=1
    sources problem=START_TEST_RUN_CONFIG_PARSING_FAILURE; submit A → A=failed
    sources protection=ci,lint; submit B C D; fail B; fail C by=lint; fail D → testing HEAD
    pass HEAD; pass HEAD by=lint → alarm nothing
    sources problem=START_TEST_RUN_CONFIG_PARSING_FAILURE
    submit E → E=failed
    submit F → EF=pending; alarm BROKEN_CONFIGURATION
  `;

  story('an entry that failed a check of the head and another one stays removed [V41]')`
    with concurrency=1 testingTimeoutMinutes=60
    sources protection=ci,lint; submit A B; wait 60m → A=failed; checks A=ci,lint
    fail B                       → testing HEAD
    pass HEAD by=lint; fail HEAD → A=failed B=pending
  `;

  story('an entry that returned is no evidence against an earlier head any more [V18] [V32]')`
    with concurrency=6
    hold landings; submit A B C D E; pass A; fail A+B A+C → BC=failed
    release landings; fail D E → DE=failed; testing HEAD
    fail HEAD                  → BCDE=pending
    cancel B C; rewind M       → testing D D+E
    fail D E HEAD              → DE=pending BC=cancelled
  `;

  it('a test of the head goes on after a push if an entry was removed on that head [V18] [V61]', () => {
    const told = play()`submit A; green A; wait 1m → A=merged`;
    const late = { check: 'ci', attempt: undefined, tests: ['t'], isLate: true, isWaived: false } as const;
    told.judgeCheck([...told.endedCandidates.keys()][0] as never, late);
    told.play(`
      submit B; fail B → B=failed; testing HEAD
      foreign Fix      → testing HEAD
      fail HEAD        → B=testing; target M+A+Fix
    `);
  });

  story('a suspected head that no test has begun on is tested after a push [V18] [V11]')`
    submit A B C; fail A; pause; fail B → AB=failed; candidates nothing
    foreign Fix; resume                 → testing C HEAD
    fail HEAD                           → ABC=testing
  `;

  story('a head that the branch is reset to has the evidence of its first time [V10]')`
    submit A B C D; fail A; pass B → B=merged
    rewind M; fail C               → C=failed; testing D HEAD
  `;

  story('a former head whose test decides about removals is remembered however many follow it [V18]')`
    submit A B; fail A B → AB=failed; testing HEAD
    foreign P; submit C; fail C; foreign Q; submit D; fail D; foreign R; submit E; fail E; foreign S
    fail HEAD            → AB=testing CDE=failed
  `;

  story('a failure on top of an open entry is judged by what that entry makes, and is not tested again [V36] [V4]')`
    with concurrency=5
    submit A B C D E; fail A B → testing C C+D C+D+E HEAD
    fail C+D+E; pass C         → C=merged D=testing E=held
    pass D                     → D=merged E=failed
  `;

  story('a base that passed by itself stays proven in a search, whatever fails on it later [V19] [V34]', {
    batch: true,
    batchingMinSize: 4,
    bisectionConcurrency: 4,
  })`
    sources protection=ci,lint; submit A B C D; fail ABCD ~AB ~A ~BCD ~BC ~B → AB=failed; testing ~CD HEAD
    pass HEAD; pass HEAD by=lint; foreign X; fail ~CD by=lint; fail ~C by=lint → C=failed; testing ~D
    fail ~D by=lint → D=failed
  `;

  it('a landing does not end the test of a head that a search goes on on [B12] [V10]', () => {
    const told = play({ batch: true, batchingMinSize: 4, bisectionConcurrency: 4 })`
      submit A B C D; submit E nobatch; fail ABCD ~AB ~A ~BCD ~BC ~B → AB=failed; testing E ~CD HEAD
      pass E → E=merged; testing ~CD HEAD
    `;
    assert.equal(told.runs.filter((run) => run === 'HEAD').length, 1);
  });
});

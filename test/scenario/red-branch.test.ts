import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play, story } from '../worlds/engine/story.ts';

/** A and B fail alone on M, one after the other, by the same check. */
const TWO = `
  submit A B C D; fail A → A=failed
  fail B                 → B=failed
`;
const BATCH = { batch: true, batchingMinSize: 4 } as const;

describe('a red branch is not the next pull request’s fault', () => {
  story('tests the head itself after two entries in a row failed alone by the same check [V10]')`
    ${TWO}
    → CD=testing; testing C C+D HEAD; runs A A+B A+B+C A+B+C+D B B+C B+C+D HEAD C C+D
  `;

  story('runs the checks on the head though its tree has passed when it landed [V10] [C36]')`
    submit A; pass A; submit B C D; fail B C → testing D HEAD
    fail HEAD                                → alarm RED_TARGET
    fail D                                   → BC=pending D=held
                                             → why B=TARGET_BRANCH_AT_FAULT C=TARGET_BRANCH_AT_FAULT
  `;

  story('interrupts nothing for an urgent one: what passes may mend it [V16] [O7]')`
    ${TWO}
    fail HEAD       → alarm RED_TARGET
    submit E urgent → CDE=testing; testing C C+D !E
    pass C          → C=merged; target M+C; testing E E+A E+A+B E+A+B+D
  `;

  story('does not remove a third before the head has answered [V10]')`
    ${TWO}
    fail C    → C=held D=testing; testing C+D HEAD
    pass HEAD → C=failed D=testing; testing D; alarm nothing
  `;

  story('removes entries as usual on a head that passes by itself, and does not test it again [V34]')`
    ${TWO}
    pass HEAD; fail C → C=failed D=testing
    fail D            → D=failed
    submit E; fail E  → E=failed; candidates nothing; alarm nothing
  `;

  it('holds when the head fails by itself: nothing starts, nobody is removed, and an alarm is raised [V16]', () => {
    const told = play()`
      ${TWO}
      fail HEAD → alarm RED_TARGET; CD=testing
      fail C    → C=held D=testing
      fail C+D  → AB=pending CD=held; testing nothing
    `;
    assert.deepEqual(told.queue.hold?.cause, { kind: 'checks', names: ['ci'] });
    told.play(`
      foreign X → ABCD=testing; testing A A+B A+B+C A+B+C+D; alarm RED_TARGET FOREIGN_PUSH; over RED_TARGET
    `);
    assert.equal(told.queue.hold, undefined);
  });

  story('still lands what passes while it holds, and goes on when that moves the head [V16] [L1]')`
    ${TWO}
    fail HEAD; pass C → C=merged D=testing; target M+C; testing D D+A D+A+B
  `;

  story('goes on when tests are restarted: what was held is tested again [V38] [C12]')`
    ${TWO}
    fail HEAD C → C=held
    restart C   → ABCD=testing; trail C TESTS_RESTARTED_BY_API_REQUEST TEST_RUN_STARTED
                → testing A A+B A+B+C A+B+C+D
    pass A      → A=merged
  `;

  story('restarts also the others that failed meanwhile when one is restarted [V38] [C12]')`
    ${TWO}
    fail HEAD C C+D → CD=held
    restart D       → CD=testing; trail C TESTS_RESTARTED_BY_API_REQUEST TEST_RUN_STARTED
                    → trail D TESTS_RESTARTED_BY_API_REQUEST TEST_RUN_STARTED; testing A A+B A+B+C A+B+C+D
  `;

  story('goes on when the queue is set to RUNNING, also when it is RUNNING [V38]')`
    ${TWO}
    fail HEAD C → C=held D=testing
    resume      → CD=testing; trail C TESTS_RESTARTED_BY_USER TEST_RUN_STARTED; testing A A+B A+B+C A+B+C+D
  `;

  story('suspects nothing after a single failure, or of the same entry twice [V10]')`
    submit A; fail A; submit A; fail A; submit A; fail A → A=failed; candidates nothing
  `;

  story('suspects nothing when the checks differ [V10]')`
    sources protection=ci,lint; submit A B C; fail A; fail B by=lint → AB=failed; testing C
    fail C → C=failed; candidates nothing
  `;

  story('removes an entry that fails another check while the head is tested [V10]')`
    sources protection=ci,lint; submit A B C; fail A B → testing C HEAD
    fail C by=lint → C=failed
  `;

  story('suspects nothing when the head moved in between [V10]')`
    submit A B C D; fail A; pass B → B=merged
    fail C                         → C=failed; testing D; runs A A+B A+B+C A+B+C+D B B+C B+C+D D
  `;

  story('suspects nothing when something was tested beneath [V10]')`
    with canOptimisticallyMerge=false
    submit A B C D; fail A B+C → B=testing C=held
    pause; pass B              → B=passed C=failed
    resume                     → B=merged D=testing; testing D
  `;

  story('counts timeouts by the checks that did not come [V10] [V23]')`
    with testingTimeoutMinutes=30 concurrency=1
    submit A B C; wait 30m → A=failed
    wait 30m               → B=failed; testing C HEAD
  `;

  story('counts single entries of a search, and holds the third of them [V10] [B6]')`
    with batch=true batchingMinSize=4
    submit A B C D; fail ABCD ~AB ~A → A=failed; testing ~BCD
    fail ~BCD ~BC ~B                 → B=failed; testing ~CD HEAD
    fail ~CD ~C                      → C=held D=testing
    pass HEAD                        → C=failed; testing ~D
  `;

  story('gives up a search on a red head, and tests its entries again when it goes on [V16] [B4]')`
    with batch=true batchingMinSize=4 bisectionConcurrency=4
    submit A B C D; fail ABCD ~AB ~A ~BCD ~BC ~B HEAD → alarm RED_TARGET; CD=pending
           → why C=TARGET_BRANCH_RED D=TARGET_BRANCH_RED; AB=pending
           → why A=TARGET_BRANCH_AT_FAULT B=TARGET_BRANCH_AT_FAULT; testing nothing
    resume → testing ABCD
  `;

  story('holds a batch that fails on a red head: nobody is removed for it [V16] [B4]')`
    with batch=true batchingMinSize=2
    submit E F; hold builds; fail EF; release builds; fail ~E
    submit A B; fail ~F HEAD → alarm RED_TARGET; EF=pending AB=testing
    fail AB                  → AB=held EF=pending; testing nothing
    foreign X                → testing EF EF+AB
  `;

  story('tries a head again that cannot be tested, and then judges entries as usual [V10] [C8]')`
    submit A B C; fail A; hold builds; fail B → testing C HEAD
    unbuildable HEAD START_TEST_RUN_RETRY_EXHAUSTED → testing C HEAD
    unbuildable HEAD START_TEST_RUN_RETRY_EXHAUSTED → testing C HEAD
    unbuildable HEAD START_TEST_RUN_RETRY_EXHAUSTED → testing C
    release builds; fail C → C=failed; alarm nothing
  `;

  story('tries the head again when its test gave no answer [V10] [V3]')`
    ${TWO}
    cut HEAD          → testing C C+D HEAD
    pass HEAD; fail C → C=failed
  `;

  story('gives up the test of the head when it moves [V10]')`
    ${TWO}
           → testing C C+D HEAD
    pass C → C=merged; candidates D=testing
  `;

  story('does not test the head while the queue is paused [V10] [V11]')`
    submit A B; fail A; pause; fail B → B=failed; candidates nothing
    resume                            → testing HEAD
  `;

  story('tests the head beside full slots [V10]')`with concurrency=1; submit A B C; fail A B → testing C HEAD`;
});

describe('an entry that was removed for a failure of the branch returns', () => {
  story('to the old place, with the reason, ahead of who came later [V18]')`
    submit A B C; fail A B → AB=failed
    fail HEAD              → AB=pending; path A failed pending
                           → why A=TARGET_BRANCH_AT_FAULT B=TARGET_BRANCH_AT_FAULT
    foreign Fix            → testing A A+B A+B+C
    pass A B C             → ABC=merged; target M+Fix+A+B+C
  `;

  it('but not where it was pushed to, closed or submitted again [V18]', () => {
    const begin = 'submit A B C\nfail A\nfail B\n';
    play()`${begin}push A; close B; fail HEAD → AB=failed; alarm RED_TARGET`;
    const told = play()`${begin}hold builds; submit A; release builds; fail HEAD → B=pending`;
    assert.equal(told.trailOf('A').filter(({ because }) => because.reason === 'TARGET_BRANCH_AT_FAULT').length, 0);
  });

  story('but not where it failed another check than the branch does [V41]')`
    sources protection=ci,lint; submit A B C; fail A by=lint
    fail B C; pass HEAD by=lint; fail HEAD → A=failed BC=pending
  `;

  story('for every check that the branch fails, also those that report later [V41]')`
    sources protection=ci,lint; submit A B C; fail A by=lint
    fail B C HEAD     → A=failed BC=pending
    fail HEAD by=lint → ABC=pending; alarm RED_TARGET; wake 10m
  `;

  story('when several failed in different ways: then the head is tested, too [V32] [V18]')`
    with concurrency=1
    sources protection=ci,lint; submit A B C D E; fail A
    fail B by=lint; fail C; fail D by=lint → testing E HEAD
    fail E                                 → E=held
    fail HEAD; fail HEAD by=lint           → ABCD=pending E=held
  `;

  story('from a search, whose base is the head, as well [V18] [B6]', BATCH)`
    submit A B C D; fail ABCD ~AB ~A ~BCD ~BC ~B → AB=failed
    fail HEAD   → ABCD=pending
    foreign Fix → testing ABCD
    pass ABCD   → ABCD=merged
  `;

  story('also when somebody mends the branch before its own test has ended [V18]')`
    submit A B C; fail A B → testing C HEAD
    foreign Fix            → testing C HEAD
    fail HEAD              → ABC=testing; alarm FOREIGN_PUSH
  `;
});

describe('a search whose base may have been red', () => {
  it('removes nobody for a failure on a base that was mended meanwhile [V19] [B12]', () => {
    const told = play(BATCH)`
      submit A B C D; fail ABCD; foreign Fix; fail ~AB ~A → ABCD=testing; why A=TEST_RUN_STARTED; testing ABCD
      pass ABCD → ABCD=merged
    `;
    assert.ok(told.trailOf('A').some(({ because }) => because.reason === 'TARGET_BRANCH_LEFT'));
  });

  story('is given up when the branch moves after one was removed, and the base tested for that one [V42] [V18]', BATCH)`
    submit A B C D; fail ABCD ~AB ~A → A=failed
    foreign Fix                      → testing BCD HEAD
    fail HEAD                        → A=testing
    pass BCD A                       → ABCD=merged
  `;

  story('leaves the removal as it is where the base passes by itself [V19]', BATCH)`
    submit A B C D; fail ABCD ~AB ~A; foreign X → testing BCD HEAD
    pass HEAD → A=failed
  `;

  story('goes on after a push where its base was landed by the queue as tested [B12] [V19]', BATCH)`
    with batchingMinSize=2
    submit P Q; pass PQ; submit A B; fail AB; foreign X; fail ~A → A=failed; testing ~B
  `;
});

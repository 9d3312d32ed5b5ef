import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play, story } from '../worlds/engine/story.ts';

const BATCH = { batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 0 } as const;
const SKIP = { ...BATCH, optimizationMode: 'BISECTION_SKIP_REDUNDANT_TESTS' } as const;

describe('a failed batch is searched in halves', () => {
  story('finds the last of four: two halves, then two single ones [B4] [B5] [B6]', BATCH)`
    together A B C D → testing ABCD
    fail ABCD        → ABCD=testing; trail A TEST_RUN_REQUIRED_STATUS_FAILED BISECTION_REQUIRED TEST_RUN_STARTED
                     → testing ~AB ~AB+CD
    pass ~AB         → AB=merged
    fail ~AB+CD      → CD=testing; testing ~AB+C ~ABC+D
    pass ~AB+C       → C=merged
    fail ~ABC+D      → D=failed; why D=TEST_RUN_REQUIRED_STATUS_FAILED; checks D=ci; target M+A+B+C
                     → runs ABCD ~AB ~AB+CD ~AB+C ~ABC+D
  `;

  story('holds what stood behind a failed half until that half is settled, and tests it as one group [B13]', BATCH)`
    together A B C D; fail ABCD ~AB → testing ~A ~A+B; AB=testing CD=pending
                                    → trail C PREREQUISITE_MERGE_ITEM_FAILED
    pass ~A                         → A=merged; testing ~A+B
    fail ~A+B                       → B=failed; testing ~A+CD  # C and D as one group, on the survivor
    pass ~A+CD                      → ACD=merged; target M+A+C+D; runs ABCD ~AB ~AB+CD ~A ~A+B ~A+CD
  `;

  story('drops the result of the second half when the first one fails [B13]', BATCH)`
    together A B C D; fail ABCD; pass ~AB+CD → CD=testing AB=testing  # C and D are not cleared before A and B are
    fail ~AB                                 → CD=pending; testing ~A ~A+B
  `;

  story('lets all go back into the line when both halves pass: their tree passed, and lands [B5] [C10]', BATCH)`
    together A B C D; fail ABCD; pass ~AB+CD ~AB → ABCD=merged
    → trail A BISECTION_TEST_RUN_PASSED TEST_RUN_STARTED TEST_RUN_PASSED MERGE_GRAPH_MERGE
    → trail D BISECTION_TEST_RUN_PASSED TEST_RUN_STARTED TEST_RUN_PASSED MERGE_GRAPH_MERGE; target M+A+B+C+D
    → runs ABCD ~AB ~AB+CD
  `;

  story('finds several culprits in one search [B6]', BATCH)`
    # B had stood behind A: it is tested again with the rest
    together A B C D; fail ABCD ~AB ~A → A=failed; testing ~BCD
    fail ~BCD                          → testing ~BC ~BC+D
    pass ~BC; fail ~BC+D               → BC=merged D=failed; target M+B+C
  `;

  story('puts the larger half first when the number is odd [B4]', BATCH)`
    with batchingMinSize=5
    together A B C D E; fail ABCDE → testing ~ABC ~ABC+DE
    fail ~ABC                      → testing ~AB ~AB+C
  `;

  it('tests on the head at that time, and is not restarted by landings or pushes [B12]', () => {
    const told = play(BATCH)`
      with batchingMinSize=2
      together A B C D; fail AB → testing CD ~A ~A+B
      pass CD                   → CD=merged; testing ~A ~A+B
      foreign X                 → testing ~A ~A+B; path A held pending testing; runs AB AB+CD ~A ~A+B CD
    `;
    assert.ok(told.candidates().every(({ base }) => base.sha === 'head:M'));
    told.play(`
      pass ~A   → testing A ~A+B  # M+C+D+X+A is another tree than M+A
      fail ~A+B → B=failed
      pass A    → target M+C+D+X+A
    `);
  });

  story('restarts what was built on the batch, also what had passed [B4] [C5]', BATCH)`
    with batchingMinSize=2
    together A B C D; pass AB+CD → CD=passed
    fail AB                      → trail C TEST_RUN_PASSED PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED
                                 → testing CD ~A ~A+B
  `;

  story('keeps survivors in their old order, ahead of what came later [B5] [O1]', BATCH)`
    with batchingMinSize=2 concurrency=1
    together A B C D E F → testing AB
    fail AB              → testing CD ~A
    pass ~A              → A=pending B=testing E=pending
    pass ~A+B CD         → CD=merged; testing AB; EF=pending; order A B E F
  `;

  story('does not let survivors wait for a batch again [B3] [B5]', BATCH)`
    with batchingMinSize=2 batchingMaxWaitTimeMinutes=5
    submit A B; fail AB; foreign X; pass ~A → A=testing; testing A ~A+B
  `;

  story('splits a failed part that is larger than one, deeper and deeper [B6]', BATCH)`
    with batchingMinSize=8 concurrency=8
    together A B C D E F G H; fail ABCDEFGH → testing ~ABCD ~ABCD+EFGH
    pass ~ABCD; fail ~ABCD+EFGH             → testing ~ABCD+EF ~ABCDEF+GH
    fail ~ABCD+EF                           → testing ~ABCD+E ~ABCDE+F
    pass ~ABCD+E; fail ~ABCDE+F             → F=failed; testing ~ABCDE+GH
    pass ~ABCDE+GH                          → ABCDEGH=merged; target M+A+B+C+D+E+G+H
  `;

  story('says of a single one that timed out that it timed out [B6] [V23]', BATCH)`
    with batchingMinSize=2 testingTimeoutMinutes=30
    together A B; fail AB; pass ~A → wake 30m
    wait 30m                       → A=merged B=failed; why B=TEST_RUN_TIMEOUT; checks B=ci
  `;
});

describe('a search that does not repeat what failed', () => {
  story('finds the second of four in five runs, none of which waits for another but the last two [B7]', SKIP)`
    together A B C D; fail ABCD → testing ~AB ~C ~C+D  # A, B, C and D together failed: C and D are split at once
    pass ~C ~C+D                → CD=merged AB=testing
    fail ~AB                    → testing ~A ~B  # A and B together failed: B is tested alone
    pass ~A; fail ~B            → B=failed A=testing; why B=TEST_RUN_REQUIRED_STATUS_FAILED
    pass A                      → A=merged; runs ABCD ~AB ~C ~C+D ~A ~B A; target M+C+D+A
  `;

  story('blames a single one without a run when exactly these failed before and all others are cleared [B14]', SKIP)`
    with batchingMinSize=2 bisectionConcurrency=1
    together A B; fail AB → testing ~A; A=testing B=pending
    pass ~A               → A=merged B=failed; why B=TEST_RUN_FAILED_BY_OPTIMIZATION; target M+A; runs AB ~A
  `;

  story('tests a single one alone while others ahead are open [B14]', SKIP)`
    with batchingMinSize=2
    together A B; fail AB → testing ~A ~B
    pass ~B               → B=merged A=testing
    fail ~A               → A=failed; target M+B; runs AB ~A ~B
  `;

  story('takes a passed single one for cleared although it failed together with another [B14]', SKIP)`
    with batchingMinSize=2
    together A B; fail AB; pass ~A ~B → A=merged  # only both together fail
                                      → testing B  # tested again on the target with A, where it lands from
    fail B                            → B=failed; runs AB ~A ~B B
  `;

  story('takes the failed batch itself for a set that failed, on the head that it was tested on [B7]', SKIP)`
    with batchingMinSize=2 concurrency=2
    together A B C D; fail AB+CD → CD=held
    # C and D failed together on top of A and B, which is the head now
    pass AB                      → AB=merged; testing ~C ~D
                                 → runs AB AB+CD ~C ~D
  `;

  story('repeats what failed where the optimization is off [B7]', BATCH)`
    with batchingMinSize=2 bisectionConcurrency=1
    together A B; fail AB; pass ~A → testing ~A+B; runs AB ~A ~A+B
  `;
});

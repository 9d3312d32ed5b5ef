import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play } from './scenario.ts';

const BATCH = { batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 0 } as const;
const SKIP = { ...BATCH, optimizationMode: 'BISECTION_SKIP_REDUNDANT_TESTS' } as const;
/** Entries are submitted while the queue is paused, so that they form one batch. */
const TOGETHER = (names: string) => `pause\nsubmit ${names}\nresume\n`;

describe('a failed batch is searched in halves', () => {
  it('finds the last of four: two halves, then two single ones [B4] [B5] [B6]', () => {
    play(
      BATCH,
      `
      ${TOGETHER('A B C D')}
      testing ABCD
      fail ABCD
      states ABCD=testing
      trail A TEST_RUN_REQUIRED_STATUS_FAILED BISECTION_REQUIRED TEST_RUN_STARTED
      testing ~AB ~AB+CD
      pass ~AB
      states AB=merged
      fail ~AB+CD
      states CD=testing
      testing ~AB+C ~ABC+D
      pass ~AB+C
      states C=merged
      fail ~ABC+D
      states D=failed
      why D=TEST_RUN_REQUIRED_STATUS_FAILED
      checks D=ci
      target M+A+B+C
      runs ABCD ~AB ~AB+CD ~AB+C ~ABC+D
      `,
    );
  });

  it('holds what stood behind a failed half until that half is settled, and tests it as one group [B6]', () => {
    play(
      BATCH,
      `
      ${TOGETHER('A B C D')}
      fail ABCD
      fail ~AB
      testing ~A ~A+B
      states AB=testing CD=pending
      trail C PREREQUISITE_MERGE_ITEM_FAILED
      pass ~A
      states A=merged
      testing ~A+B
      fail ~A+B
      states B=failed
      testing ~A+CD             # C and D as one group, on the survivor
      pass ~A+CD
      states ACD=merged
      target M+A+C+D
      runs ABCD ~AB ~AB+CD ~A ~A+B ~A+CD
      `,
    );
  });

  it('drops the result of the second half when the first one fails [B6]', () => {
    play(
      BATCH,
      `
      ${TOGETHER('A B C D')}
      fail ABCD
      pass ~AB+CD
      states CD=testing AB=testing      # C and D are not cleared before A and B are
      fail ~AB
      states CD=pending
      testing ~A ~A+B
      `,
    );
  });

  it('lets all go back into the line when both halves pass: their tree passed, and lands [B5] [C10]', () => {
    play(
      BATCH,
      `
      ${TOGETHER('A B C D')}
      fail ABCD
      pass ~AB+CD
      pass ~AB
      states ABCD=merged
      trail A BISECTION_TEST_RUN_PASSED TEST_RUN_STARTED TEST_RUN_PASSED MERGE_GRAPH_MERGE
      trail D BISECTION_TEST_RUN_PASSED TEST_RUN_STARTED TEST_RUN_PASSED MERGE_GRAPH_MERGE
      target M+A+B+C+D
      runs ABCD ~AB ~AB+CD
      `,
    );
  });

  it('finds several culprits in one search [B6]', () => {
    play(
      BATCH,
      `
      ${TOGETHER('A B C D')}
      fail ABCD
      fail ~AB
      fail ~A
      states A=failed
      testing ~BCD               # B had stood behind A: it is tested again with the rest
      fail ~BCD
      testing ~BC ~BC+D
      pass ~BC
      fail ~BC+D
      states BC=merged D=failed
      target M+B+C
      `,
    );
  });

  it('puts the larger half first when the number is odd [B4]', () => {
    play(
      { ...BATCH, batchingMinSize: 5 },
      `${TOGETHER('A B C D E')}\nfail ABCDE\ntesting ~ABC ~ABC+DE\nfail ~ABC\ntesting ~AB ~AB+C`,
    );
  });

  it('tests on the head at that time, and is not restarted by landings or pushes [B4]', () => {
    const told = play(
      { ...BATCH, batchingMinSize: 2 },
      `
      ${TOGETHER('A B C D')}
      fail AB
      testing CD ~A ~A+B
      pass CD
      states CD=merged
      testing ~A ~A+B
      foreign X
      testing ~A ~A+B
      path A held pending testing
      runs AB AB+CD ~A ~A+B CD
      `,
    );
    assert.ok(told.candidates().every(({ base }) => base.sha === 'head:M'));
    told.play(`
      pass ~A
      testing A ~A+B           # M+C+D+X+A is another tree than M+A
      fail ~A+B
      states B=failed
      pass A
      target M+C+D+X+A
    `);
  });

  it('restarts what was built on the batch, also what had passed [B4] [C5]', () => {
    play(
      { ...BATCH, batchingMinSize: 2 },
      `
      ${TOGETHER('A B C D')}
      pass AB+CD
      states CD=passed
      fail AB
      trail C TEST_RUN_PASSED PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED
      testing CD ~A ~A+B
      `,
    );
  });

  it('keeps survivors in their old order, ahead of what came later [B5] [O1]', () => {
    play(
      { ...BATCH, batchingMinSize: 2, concurrency: 1 },
      `
      ${TOGETHER('A B C D E F')}
      testing AB
      fail AB
      testing CD ~A
      pass ~A
      states A=pending B=testing E=pending
      pass ~A+B
      pass CD
      states CD=merged
      testing AB
      states EF=pending
      order A B E F
      `,
    );
  });

  it('does not let survivors wait for a batch again [B3] [B5]', () => {
    play(
      { ...BATCH, batchingMinSize: 2, batchingMaxWaitTimeMinutes: 5 },
      `
      submit A B
      fail AB
      foreign X
      pass ~A
      states A=testing
      testing A ~A+B
      `,
    );
  });

  it('splits a failed part that is larger than one, deeper and deeper [B6]', () => {
    play(
      { ...BATCH, batchingMinSize: 8, concurrency: 8 },
      `
      ${TOGETHER('A B C D E F G H')}
      fail ABCDEFGH
      testing ~ABCD ~ABCD+EFGH
      pass ~ABCD
      fail ~ABCD+EFGH
      testing ~ABCD+EF ~ABCDEF+GH
      fail ~ABCD+EF
      testing ~ABCD+E ~ABCDE+F
      pass ~ABCD+E
      fail ~ABCDE+F
      states F=failed
      testing ~ABCDE+GH
      pass ~ABCDE+GH
      states ABCDEGH=merged
      target M+A+B+C+D+E+G+H
      `,
    );
  });

  it('says of a single one that timed out that it timed out [B6] [V1]', () => {
    play(
      { ...BATCH, batchingMinSize: 2, testingTimeoutMinutes: 30 },
      `
      ${TOGETHER('A B')}
      fail AB
      pass ~A
      wake 30m
      wait 30m
      states A=merged B=failed
      why B=TEST_RUN_TIMEOUT
      checks B=ci
      `,
    );
  });
});

describe('a search that does not repeat what failed', () => {
  it('finds the second of four in five runs, none of which waits for another but the last two [B7]', () => {
    play(
      SKIP,
      `
      ${TOGETHER('A B C D')}
      fail ABCD
      testing ~AB ~C ~C+D        # A, B, C and D together failed: C and D are split at once
      pass ~C
      pass ~C+D
      states CD=merged AB=testing
      fail ~AB
      testing ~A ~B              # A and B together failed: B is tested alone
      pass ~A
      fail ~B
      states B=failed A=testing
      why B=TEST_RUN_REQUIRED_STATUS_FAILED
      pass A
      states A=merged
      runs ABCD ~AB ~C ~C+D ~A ~B A
      target M+C+D+A
      `,
    );
  });

  it('blames a single one without a run when exactly these failed before and all others are cleared [B7]', () => {
    play(
      { ...SKIP, batchingMinSize: 2, bisectionConcurrency: 1 },
      `
      ${TOGETHER('A B')}
      fail AB
      testing ~A
      states A=testing B=pending
      pass ~A
      states A=merged B=failed
      why B=TEST_RUN_FAILED_BY_OPTIMIZATION
      target M+A
      runs AB ~A
      `,
    );
  });

  it('tests a single one alone while others ahead are open [B7]', () => {
    play(
      { ...SKIP, batchingMinSize: 2 },
      `
      ${TOGETHER('A B')}
      fail AB
      testing ~A ~B
      pass ~B
      states B=merged A=testing
      fail ~A
      states A=failed
      target M+B
      runs AB ~A ~B
      `,
    );
  });

  it('takes a passed single one for cleared although it failed together with another [B7]', () => {
    play(
      { ...SKIP, batchingMinSize: 2 },
      `
      ${TOGETHER('A B')}
      fail AB
      pass ~A ~B              # only both together fail
      states A=merged
      testing B               # tested again on the target with A, where it lands from
      fail B
      states B=failed
      runs AB ~A ~B B
      `,
    );
  });

  it('takes the failed batch itself for a set that failed, on the head that it was tested on [B7]', () => {
    play(
      { ...SKIP, batchingMinSize: 2, concurrency: 2 },
      `
      ${TOGETHER('A B C D')}
      fail AB+CD
      states CD=held
      pass AB
      states AB=merged
      testing ~C ~D      # C and D failed together on top of A and B, which is the head now
      runs AB AB+CD ~C ~D
      `,
    );
  });

  it('repeats what failed where the optimization is off [B7]', () => {
    play(
      { ...BATCH, batchingMinSize: 2, bisectionConcurrency: 1 },
      `${TOGETHER('A B')}\nfail AB\npass ~A\ntesting ~A+B\nruns AB ~A ~A+B`,
    );
  });
});

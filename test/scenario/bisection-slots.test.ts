import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play } from './scenario.ts';

const BATCH = { batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 0 } as const;
/** Entries are submitted while the queue is paused, so that they form one batch. */
const TOGETHER = (names: string) => `pause\nsubmit ${names}\nresume\n`;

describe('slots of searches, and entries that leave them', () => {
  it('has slots of its own, as many as the line where unset [B8]', () => {
    play(
      { ...BATCH, batchingMinSize: 2, concurrency: 1 },
      `
      ${TOGETHER('A B C D')}
      fail AB
      testing CD ~A
      pass ~A
      testing CD ~A+B
      `,
    );
  });

  it('has exactly as many slots as are set for it [B8]', () => {
    play(
      { ...BATCH, concurrency: 1, bisectionConcurrency: 2 },
      `${TOGETHER('A B C D')}\nfail ABCD\ntesting ~AB ~AB+CD\nfail ~AB\ntesting ~A ~A+B`,
    );
    play({ ...BATCH, concurrency: 4, bisectionConcurrency: 1 }, `${TOGETHER('A B C D')}\nfail ABCD\ntesting ~AB`);
  });

  it('gives slots to all searches, the oldest first [B8]', () => {
    const two = (bisectionConcurrency: number) =>
      play(
        { ...BATCH, batchingMinSize: 2, mode: 'PARALLEL', bisectionConcurrency },
        `${TOGETHER('A[x] B[x] C[y] D[y]')}\nfail CD\nfail AB`,
      );
    two(4).play('testing ~C ~C+D ~A ~A+B');
    two(3).play('testing ~C ~C+D ~A\npass ~C\ntesting ~C+D ~A ~A+B\nstates C=merged');
    two(1).play('testing ~C\nfail ~C\ntesting ~D\npass ~D\ntesting ~A\nstates D=merged');
  });

  it('shares the slots of the line with 0, and goes first [B8]', () => {
    play(
      { ...BATCH, batchingMinSize: 2, concurrency: 2, bisectionConcurrency: 0 },
      `
      ${TOGETHER('A B C D')}
      testing AB AB+CD
      fail AB
      testing ~A ~A+B
      states CD=pending
      pass ~A
      states A=merged      # its tree passed: it takes no slot
      testing CD ~A+B
      `,
    );
  });

  it('takes the runs of one that leaves with it, and tests the others again [B9]', () => {
    play(
      BATCH,
      `
      ${TOGETHER('A B C D')}
      fail ABCD
      cancel A
      states A=cancelled BCD=testing
      testing ~B ~B+CD
      trail C PREREQUISITE_MERGE_ITEM_CANCELLED TEST_RUN_STARTED
      cause C=nobody
      runs ABCD ~AB ~AB+CD ~B ~B+CD
      cancel C
      testing ~B ~B+D
      trail B PREREQUISITE_MERGE_ITEM_CANCELLED TEST_RUN_STARTED
      path D testing pending testing
      runs ABCD ~AB ~AB+CD ~B ~B+CD ~B+D
      `,
    );
  });

  it('tests the rest again when a survivor leaves before it landed [B9]', () => {
    play(
      BATCH,
      `
      ${TOGETHER('A B C D')}
      fail ABCD
      pause
      pass ~AB
      states AB=pending CD=testing
      cancel A
      states A=cancelled CD=pending
      testing
      resume
      testing B ~B+CD           # B passed only together with A
      states BCD=testing
      `,
    );
  });

  it('tests the rest again when a survivor fails in the line [B9] [B5]', () => {
    play(
      { ...BATCH, batchingMinSize: 2 },
      `
      ${TOGETHER('A B')}
      fail AB
      foreign X
      pass ~A
      testing A ~A+B
      fail A
      states A=failed B=testing
      trail B PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED
      testing ~B
      runs AB ~A ~A+B A ~B
      `,
    );
  });

  it('ends with the last of its entries [B9]', () => {
    const told = play({ ...BATCH, batchingMinSize: 2 }, `${TOGETHER('A B')}\nfail AB\ncancel A\ncancel B\ncandidates`);
    assert.deepEqual(told.queue.bisections, []);
  });

  it('restarts a run of the search in its place; the other is not restarted [C12]', () => {
    play(
      BATCH,
      `
      ${TOGETHER('A B C D')}
      fail ABCD
      restart A
      states ABCD=testing
      trail B TESTS_RESTARTED_BY_API_REQUEST TEST_RUN_STARTED
      path D held pending testing
      runs ABCD ~AB ~AB+CD ~AB
      pass ~AB
      states AB=merged
      `,
    );
  });

  it('restarts the last run of a search, and tries it again when it gave no answer [C12] [V3]', () => {
    play(
      { ...BATCH, batchingMinSize: 2 },
      `
      ${TOGETHER('A B')}
      fail AB
      pass ~A
      restart B
      testing ~A+B
      cut ~A+B
      testing ~A+B
      runs AB ~A ~A+B ~A+B ~A+B
      fail ~A+B
      states B=failed
      `,
    );
  });

  it('starts no run of a search while the queue is paused, and settles what is known [V11] [L5]', () => {
    play(
      { ...BATCH, batchingMinSize: 2 },
      `
      ${TOGETHER('A B')}
      pause
      fail AB
      states AB=pending
      why A=BISECTION_REQUIRED B=BISECTION_REQUIRED
      testing
      resume
      testing ~A ~A+B
      pause
      fail ~A
      states A=failed B=pending
      testing
      resume
      testing ~B
      `,
    );
  });

  it('counts a transition as one of a search while the entry is in one [B4]', () => {
    const told = play({ ...BATCH, batchingMinSize: 2 }, `${TOGETHER('A B')}\nfail AB\npass ~A\nfail ~A+B`);
    const flags = (name: string) => told.trailOf(name).map(({ to, isBisection }) => `${to}:${isBisection}`);
    assert.deepEqual(flags('B').slice(-5), [
      'PENDING_FAILURE:false',
      'PENDING:false',
      'TESTING:true',
      'PENDING_FAILURE:true',
      'FAILED:true',
    ]);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play, story } from '../worlds/engine/story.ts';

const BATCH = { batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 0 } as const;

describe('slots of searches, and entries that leave them', () => {
  story('has slots of its own, as many as the line where unset [B8]', BATCH)`
    with batchingMinSize=2 concurrency=1
    together A B C D; fail AB → testing CD ~A
    pass ~A                   → testing CD ~A+B
  `;

  it('has exactly as many slots as are set for it [B8]', () => {
    play(BATCH)`
      with concurrency=1 bisectionConcurrency=2
      together A B C D; fail ABCD → testing ~AB ~AB+CD
      fail ~AB                    → testing ~A ~A+B
    `;
    play(BATCH)`with concurrency=4 bisectionConcurrency=1; together A B C D; fail ABCD → testing ~AB`;
  });

  it('gives slots to all searches, the oldest first [B8]', () => {
    const two = (bisectionConcurrency: number) =>
      play({ ...BATCH, batchingMinSize: 2, mode: 'PARALLEL', bisectionConcurrency })`
        together A[x] B[x] C[y] D[y]; fail CD AB
      `;
    two(4).play('→ testing ~C ~C+D ~A ~A+B');
    two(3).play(`
              → testing ~C ~C+D ~A
      pass ~C → testing ~C+D ~A ~A+B; C=merged
    `);
    two(1).play(`
              → testing ~C
      fail ~C → testing ~D
      pass ~D → testing ~A; D=merged
    `);
  });

  story('shares the slots of the line with 0, and goes first [B8]', BATCH)`
    with batchingMinSize=2 concurrency=2 bisectionConcurrency=0
    together A B C D → testing AB AB+CD
    fail AB          → testing ~A ~A+B; CD=pending
    pass ~A          → A=merged  # its tree passed: it takes no slot
                     → testing CD ~A+B
  `;

  story('takes the runs of one that leaves with it, and tests the others again [B9]', BATCH)`
    together A B C D; fail ABCD; cancel A → A=cancelled BCD=testing; testing ~B ~B+CD
                                          → trail C PREREQUISITE_MERGE_ITEM_CANCELLED TEST_RUN_STARTED
                                          → cause C=none; runs ABCD ~AB ~AB+CD ~B ~B+CD
    cancel C                              → testing ~B ~B+D
                                          → trail B PREREQUISITE_MERGE_ITEM_CANCELLED TEST_RUN_STARTED
                                          → path D testing pending testing; runs ABCD ~AB ~AB+CD ~B ~B+CD ~B+D
  `;

  story('tests the rest again when a survivor leaves before it landed [B9]', BATCH)`
    together A B C D; fail ABCD; pause; pass ~AB → AB=pending CD=testing
    cancel A → A=cancelled CD=pending; testing nothing
    resume   → testing B ~B+CD  # B passed only together with A
             → BCD=testing
  `;

  story('tests the rest again when a survivor fails in the line [B9] [B5]', BATCH)`
    with batchingMinSize=2
    together A B; fail AB; foreign X; pass ~A → testing A ~A+B
    fail A → A=failed B=testing; trail B PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED; testing ~B
           → runs AB ~A ~A+B A ~B
  `;

  it('ends with the last of its entries [B9]', () => {
    const told = play(BATCH)`with batchingMinSize=2; together A B; fail AB; cancel A B → candidates nothing`;
    assert.deepEqual(told.queue.bisections, []);
  });

  story('restarts a run of the search in its place; the other is not restarted [C12]', BATCH)`
    together A B C D; fail ABCD; restart A → ABCD=testing
                                           → trail B TESTS_RESTARTED_BY_API_REQUEST TEST_RUN_STARTED
                                           → path D held pending testing; runs ABCD ~AB ~AB+CD ~AB
    pass ~AB                               → AB=merged
  `;

  story('restarts the last run of a search, and tries it again when it gave no answer [C12] [V3]', BATCH)`
    with batchingMinSize=2
    together A B; fail AB; pass ~A; restart B → testing ~A+B
    cut ~A+B  → testing ~A+B; runs AB ~A ~A+B ~A+B ~A+B
    fail ~A+B → B=failed
  `;

  story('starts no run of a search while the queue is paused, and settles what is known [V11] [L5]', BATCH)`
    with batchingMinSize=2
    together A B; pause; fail AB → AB=pending; why A=BISECTION_REQUIRED B=BISECTION_REQUIRED; testing nothing
    resume                       → testing ~A ~A+B
    pause; fail ~A               → A=failed B=pending; testing nothing
    resume                       → testing ~B
  `;

  it('counts a transition as one of a search while the entry is in one [B4]', () => {
    const told = play(BATCH)`with batchingMinSize=2; together A B; fail AB; pass ~A; fail ~A+B`;
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

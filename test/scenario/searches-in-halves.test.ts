import { describe } from 'node:test';
import { story } from '../worlds/engine/story.ts';

const BATCH = { batch: true, batchingMinSize: 2 } as const;
const SKIP = { batch: true, batchingMinSize: 4, optimizationMode: 'BISECTION_SKIP_REDUNDANT_TESTS' } as const;

describe('sets that failed in a search', () => {
  story('a batch that was tested beside a landing has not failed on the head [B7] [C4]', SKIP)`
    with mode=PARALLEL
    together A[x] B[x] C[x] D[x]; submit N[y] nobatch; pass N; fail ABCD → N=merged; testing ~AB ~AB+CD
    # A, B, C and D together have failed on the head now, C and D have not
    fail ~AB+CD; pass ~AB → testing ~AB+C ~D
  `;
});

describe('entries that a search cleared', () => {
  story('entries that were cleared apart are not tested as one batch again [B15]', SKIP)`
    with batchingMinSize=2 concurrency=1 bisectionConcurrency=2
    together A B C D; fail AB → testing CD ~A ~B
    pass ~A ~B; pass CD       → CD=merged; testing A; B=pending
    pass A                    → A=merged; testing B
  `;

  story('an entry that was cleared on a former head is batched like any other [B5] [B12]', BATCH)`
    together A B C D; fail AB; pass CD → CD=merged
    submit E; pass ~A                  → testing AE ~A+B
  `;

  story('an entry that landed together with others leaves the rest of its search unproven [B12] [V30]', BATCH)`
    with canOptimisticallyMerge=true
    together A B C D; fail AB; pass ~A → testing CD CD+A ~A+B
    pass CD+A                          → ACD=merged
    submit E; pass ~A+B                → testing BE
  `;
});

import { describe, it } from 'node:test';
import { play, story } from '../worlds/engine/story.ts';

const QUEUE = 'submit A B C D; fail A+B → B=held';
const OFF_0 = { canOptimisticallyMerge: false, pendingFailureDepth: 0 };
const OFF_1 = { canOptimisticallyMerge: false, pendingFailureDepth: 1 };
const ON_0 = { canOptimisticallyMerge: true, pendingFailureDepth: 0 };
const ON_1 = { canOptimisticallyMerge: true, pendingFailureDepth: 1 };
const ON_2 = { canOptimisticallyMerge: true, pendingFailureDepth: 2 };

describe('B failed; A passes, then C passes', () => {
  story('without optimism and depth, removes B when A passes, and restarts C and D [V4] [V5]', OFF_0)`
    ${QUEUE}
    pass A → A=merged B=failed CD=testing; testing C C+D
           → trail C PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED; runs A A+B A+B+C A+B+C+D C C+D
  `;

  story('without optimism, with depth 1, holds B until C has passed, which changes nothing [V6]', OFF_1)`
    ${QUEUE}
    pass A   → A=merged B=held CD=testing; target M+A; wake 1h
    pass B+C → B=failed CD=testing; trail C TEST_RUN_PASSED PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED
             → testing C C+D; target M+A
  `;

  story('with optimism, without depth, removes B when A passes: C’s pass comes too late [V4] [V8]', ON_0)`
    ${QUEUE}
    pass A → A=merged B=failed CD=testing; testing C C+D
    pass C → target M+A+C
  `;

  story('with optimism and depth 1, holds B until C passes, which lands both; D carries on [V6] [V8]', ON_1)`
    ${QUEUE}
    pass A   → A=merged B=held
    pass B+C → BC=merged D=testing
             → trail B TEST_RUN_REQUIRED_STATUS_FAILED SUCCESSOR_TEST_RUN_PASSED MERGE_GRAPH_MERGE
             → target M+A+B+C; testing D; path D waiting pending testing; runs A A+B A+B+C A+B+C+D
  `;

  story('with optimism and depth 2, lands B and C as soon as C passes; D need not finish [V6] [V8]', ON_2)`
    ${QUEUE}
    pass A   → B=held
    pass B+C → BC=merged D=testing; target M+A+B+C; testing D
  `;
});

describe('B failed; A passes, C fails, D passes', () => {
  story('without optimism and depth, removes B when A passes; C and D restart [V5]', OFF_0)`
    ${QUEUE}
    pass A → B=failed; testing C C+D
    fail C → C=failed; testing D
    pass D → target M+A+D
  `;

  story('without optimism, with depth 1, holds B until C fails, and then removes it [V6]', OFF_1)`
    ${QUEUE}
    pass A   → B=held
    fail B+C → B=failed CD=testing; path C testing held pending testing; testing C C+D
  `;

  story('with optimism, without depth, removes B when A passes; C and D restart [V5] [V8]', ON_0)`
    ${QUEUE}
    pass A → B=failed; testing C C+D
    fail C → C=failed; testing D
    pass D → target M+A+D
  `;

  story('with optimism and depth 1, removes B when C fails: what D finds out later is moot [V6] [V8]', ON_1)`
    ${QUEUE}
    pass A   → B=held
    fail B+C → B=failed CD=testing; testing C C+D; trail D PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED
             → target M+A
  `;

  story('with optimism and depth 2, holds B past C’s failure, and D’s pass lands all three [V6] [V8]', ON_2)`
    ${QUEUE}
    pass A; fail B+C → A=merged BC=held D=testing
    pass B+C+D       → BCD=merged; why B=MERGE_GRAPH_MERGE; trail B SUCCESSOR_TEST_RUN_PASSED MERGE_GRAPH_MERGE
                     → trail C SUCCESSOR_TEST_RUN_PASSED MERGE_GRAPH_MERGE
                     → trail D TEST_RUN_PASSED MERGE_GRAPH_MERGE; target M+A+B+C+D
                     → proof B=SAME_TREE C=SAME_TREE D=SAME_TREE
  `;
});

describe('B failed; A fails too', () => {
  const RETEST = `
    → A=failed BCD=testing
    → trail B TEST_RUN_REQUIRED_STATUS_FAILED PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED
    → trail D PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED; testing B B+C B+C+D; target M
  `;

  for (const [name, settings] of [
    ['without optimism and depth, removes A at once, and tests the others again [V4] [V5]', OFF_0],
    ['without optimism, with depth 1, removes A at once: B, one hop behind, is finished [V6]', OFF_1],
    ['with optimism, without depth, removes A at once [V5] [V8]', ON_0],
    ['with optimism and depth 1, removes A at once: B, one hop behind, is finished [V6] [V8]', ON_1],
  ] as const) {
    story(name, settings)`
      ${QUEUE}
      fail A
      ${RETEST}
    `;
  }

  it('with optimism and depth 2, holds A until C has finished [V6] [V8]', () => {
    play(ON_2)`
      ${QUEUE}
      fail A     → AB=held CD=testing
      pass A+B+C → ABC=merged D=testing; target M+A+B+C
    `;
    play(ON_2)`
      ${QUEUE}
      fail A → AB=held CD=testing
      fail A+B+C
      ${RETEST.replace('trail D', 'trail C')}
    `;
  });
});

describe('B failed; A still runs, and C passes first', () => {
  const PARKS = 'pass A+B+C → A=testing B=held C=passed D=testing; target M';

  story('without optimism and depth, parks C, and restarts it when A passes [V4] [L2]', OFF_0)`
    ${QUEUE}
    ${PARKS}
    pass A → A=merged B=failed CD=testing
           → trail C TEST_RUN_PASSED PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED; testing C C+D; target M+A
  `;

  story('without optimism, with depth 1, parks C, and does not hold B: C has finished [V6]', OFF_1)`
    ${QUEUE}
    ${PARKS}
    pass A → A=merged B=failed CD=testing; testing C C+D; target M+A
  `;

  const VOUCHED = `
    pass A+B+C → ABC=merged D=testing; trail A SUCCESSOR_TEST_RUN_PASSED MERGE_GRAPH_MERGE
               → trail B TEST_RUN_REQUIRED_STATUS_FAILED SUCCESSOR_TEST_RUN_PASSED MERGE_GRAPH_MERGE
               → target M+A+B+C; candidates D=testing; path D waiting pending testing
  `;

  for (const [name, settings] of [
    ['with optimism, without depth, C vouches for A and B: all three land [V8]', ON_0],
    ['with optimism and depth 1, all three land [V8]', ON_1],
    ['with optimism and depth 2, all three land [V8]', ON_2],
  ] as const) {
    story(name, settings)`
      ${QUEUE}
      ${VOUCHED}
    `;
  }
});

describe('holds', () => {
  story('ends a hold an hour after the failure [V6]', ON_1)`
    with testingTimeoutMinutes=300
    submit A B; wait 10m; fail A → A=held; wake 1h
    wait 59m                     → A=held; wake 1m
    wait 1m                      → A=failed B=testing; why A=TEST_RUN_REQUIRED_STATUS_FAILED; testing B
  `;

  story('ends a hold at the testing timeout where that is sooner [V6]', ON_1)`
    with testingTimeoutMinutes=20
    submit A; wait 10m; submit B; fail A → A=held
    wait 15m                             → A=held
    restart B  # the clock of B's tests starts again
    wait 5m                              → A=failed B=testing
  `;

  story('holds without a testing timeout for an hour too [V6]', ON_1)`
    with testingTimeoutMinutes=0
    submit A B; fail A → wake 1h
    wait 1h            → A=failed B=testing
  `;

  story('holds for a successor that arrives after the failure [V28] [V7]', ON_1)`
    with concurrency=4
    submit A B; fail A+B; submit C → testing A A+B+C  # within one hop of B: started although it stands behind a failure
    submit D                       → D=pending  # two hops: waits
    pass A                         → A=merged B=held
    pass B+C                       → BC=merged D=testing; target M+A+B+C
  `;

  story('starts nothing behind a failure without depth [V7]')`
    with concurrency=4
    submit A B; fail A+B; submit C → C=pending; testing A
    pass A                         → B=failed; testing C; runs A A+B C
  `;

  story('counts hops from one to the next, not past those in between [V28]', ON_1)`
    with mode=PARALLEL
    submit A[x] B[x] C[x,y] D[q] → testing A A+B A+B+C D
    fail A                       → A=held
    fail A+B                     → A=failed; testing D B B+C  # B is one hop behind A, C two: the hold is over
  `;

  story('holds for a direct successor in another lane of its own [V28]', ON_1)`
    with mode=PARALLEL
    submit A[x,y] B[x] C[y]; fail A A+B → AB=held
    pass A+C                            → AC=merged B=failed; target M+A+C  # C contains A, and not B
  `;

  story('holds nobody for an entry in a lane that has nothing to do with it [V28]', ON_1)`
    with mode=PARALLEL
    submit A[x] B[y]; fail A → A=failed B=testing; testing B
  `;

  story('holds a batch: the batch behind lands both, and nothing is searched [V6] [V8]', ON_1)`
    with batch=true batchingMinSize=3
    submit A B C D E F; fail ABC → ABC=held DEF=testing
    pass ABC+DEF                 → ABCDEF=merged; target M+A+B+C+D+E+F; runs ABC ABC+DEF
  `;

  story('holds a batch for one that still waits to be full behind it [V6] [B10]', OFF_1)`
    with batch=true batchingMinSize=2
    submit A B C; fail AB → AB=held C=pending; wake 5m
    wait 5m               → testing AB+C
    pass AB+C             → testing C ~A ~A+B; runs AB AB+C ~A ~A+B C
  `;

  story('lets a restart clear a held entry [V6] [C12]', OFF_1)`
    submit A B; fail A → A=held
    restart A          → A=testing; trail A TESTS_RESTARTED_BY_API_REQUEST TEST_RUN_STARTED
                       → path B waiting pending testing
    pass A             → A=merged B=testing
  `;

  story('ends a hold at once when the run it waited for makes way for an urgent one [V6]', OFF_1)`
    with mode=PARALLEL concurrency=1 honorQuarantine=OFF
    submit B[x] C[x] A[x]; pass B; fail C → C=held A=testing
    submit A[z]; submit D[y] urgent       → C=failed D=testing A=pending
  `;

  story('settles blame while the queue is paused, and starts nothing [V11]')`
    submit A B C; pause; fail A+B → B=held
    pass A                        → A=passed B=failed C=pending; target M; testing nothing
    resume                        → A=merged C=testing; target M+A; testing C
  `;
});

import { describe, it } from 'node:test';
import { play } from './scenario.ts';

const QUEUE = 'submit A B C D\nfail A+B\nstates B=held\n';
const OFF_0 = { canOptimisticallyMerge: false, pendingFailureDepth: 0 };
const OFF_1 = { canOptimisticallyMerge: false, pendingFailureDepth: 1 };
const ON_0 = { canOptimisticallyMerge: true, pendingFailureDepth: 0 };
const ON_1 = { canOptimisticallyMerge: true, pendingFailureDepth: 1 };
const ON_2 = { canOptimisticallyMerge: true, pendingFailureDepth: 2 };

describe('B failed; A passes, then C passes', () => {
  it('without optimism and depth, removes B when A passes, and restarts C and D [V4] [V5]', () => {
    play(
      OFF_0,
      `${QUEUE}
      pass A
      states A=merged B=failed CD=testing
      testing C C+D
      trail C PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED
      runs A A+B A+B+C A+B+C+D C C+D
      `,
    );
  });

  it('without optimism, with depth 1, holds B until C has passed, which changes nothing [V6]', () => {
    play(
      OFF_1,
      `${QUEUE}
      pass A
      states A=merged B=held CD=testing
      target M+A
      wake 1h
      pass B+C
      states B=failed CD=testing
      trail C TEST_RUN_PASSED PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED
      testing C C+D
      target M+A
      `,
    );
  });

  it('with optimism, without depth, removes B when A passes: C’s pass comes too late [V4] [V8]', () => {
    play(
      ON_0,
      `${QUEUE}
      pass A
      states A=merged B=failed CD=testing
      testing C C+D
      pass C
      target M+A+C
      `,
    );
  });

  it('with optimism and depth 1, holds B until C passes, which lands both; D carries on [V6] [V8]', () => {
    play(
      ON_1,
      `${QUEUE}
      pass A
      states A=merged B=held
      pass B+C
      states BC=merged D=testing
      trail B TEST_RUN_REQUIRED_STATUS_FAILED SUCCESSOR_TEST_RUN_PASSED MERGE_GRAPH_MERGE
      target M+A+B+C
      testing D
      path D waiting pending testing
      runs A A+B A+B+C A+B+C+D
      `,
    );
  });

  it('with optimism and depth 2, lands B and C as soon as C passes; D need not finish [V6] [V8]', () => {
    play(ON_2, `${QUEUE}\npass A\nstates B=held\npass B+C\nstates BC=merged D=testing\ntarget M+A+B+C\ntesting D`);
  });
});

describe('B failed; A passes, C fails, D passes', () => {
  it('without optimism and depth, removes B when A passes; C and D restart [V5]', () => {
    play(
      OFF_0,
      `${QUEUE}\npass A\nstates B=failed\ntesting C C+D\nfail C\nstates C=failed\ntesting D\npass D\ntarget M+A+D`,
    );
  });

  it('without optimism, with depth 1, holds B until C fails, and then removes it [V6]', () => {
    play(
      OFF_1,
      `${QUEUE}
      pass A
      states B=held
      fail B+C
      states B=failed CD=testing
      path C testing held pending testing
      testing C C+D
      `,
    );
  });

  it('with optimism, without depth, removes B when A passes; C and D restart [V5] [V8]', () => {
    play(
      ON_0,
      `${QUEUE}\npass A\nstates B=failed\ntesting C C+D\nfail C\nstates C=failed\ntesting D\npass D\ntarget M+A+D`,
    );
  });

  it('with optimism and depth 1, removes B when C fails: what D finds out later is moot [V6] [V8]', () => {
    play(
      ON_1,
      `${QUEUE}
      pass A
      states B=held
      fail B+C
      states B=failed CD=testing
      testing C C+D
      trail D PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED
      target M+A
      `,
    );
  });

  it('with optimism and depth 2, holds B past C’s failure, and D’s pass lands all three [V6] [V8]', () => {
    play(
      ON_2,
      `${QUEUE}
      pass A
      fail B+C
      states A=merged BC=held D=testing
      pass B+C+D
      states BCD=merged
      why B=MERGE_GRAPH_MERGE
      trail B SUCCESSOR_TEST_RUN_PASSED MERGE_GRAPH_MERGE
      trail C SUCCESSOR_TEST_RUN_PASSED MERGE_GRAPH_MERGE
      trail D TEST_RUN_PASSED MERGE_GRAPH_MERGE
      target M+A+B+C+D
      proof B=SAME_TREE C=SAME_TREE D=SAME_TREE
      `,
    );
  });
});

describe('B failed; A fails too', () => {
  const RETEST = `
      states A=failed BCD=testing
      trail B TEST_RUN_REQUIRED_STATUS_FAILED PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED
      trail D PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED
      testing B B+C B+C+D
      target M
      `;

  it('without optimism and depth, removes A at once, and tests the others again [V4] [V5]', () => {
    play(OFF_0, `${QUEUE}\nfail A\n${RETEST}`);
  });

  it('without optimism, with depth 1, removes A at once: B, one hop behind, is finished [V6]', () => {
    play(OFF_1, `${QUEUE}\nfail A\n${RETEST}`);
  });

  it('with optimism, without depth, removes A at once [V5] [V8]', () => {
    play(ON_0, `${QUEUE}\nfail A\n${RETEST}`);
  });

  it('with optimism and depth 1, removes A at once: B, one hop behind, is finished [V6] [V8]', () => {
    play(ON_1, `${QUEUE}\nfail A\n${RETEST}`);
  });

  it('with optimism and depth 2, holds A until C has finished [V6] [V8]', () => {
    play(ON_2, `${QUEUE}\nfail A\nstates AB=held CD=testing\npass A+B+C\nstates ABC=merged D=testing\ntarget M+A+B+C`);
    play(ON_2, `${QUEUE}\nfail A\nstates AB=held CD=testing\nfail A+B+C\n${RETEST.replace('trail D', 'trail C')}`);
  });
});

describe('B failed; A still runs, and C passes first', () => {
  const PARKS = 'pass A+B+C\nstates A=testing B=held C=passed D=testing\ntarget M\n';

  it('without optimism and depth, parks C, and restarts it when A passes [V4] [L2]', () => {
    play(
      OFF_0,
      `${QUEUE}${PARKS}
      pass A
      states A=merged B=failed CD=testing
      trail C TEST_RUN_PASSED PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED
      testing C C+D
      target M+A
      `,
    );
  });

  it('without optimism, with depth 1, parks C, and does not hold B: C has finished [V6]', () => {
    play(OFF_1, `${QUEUE}${PARKS}\npass A\nstates A=merged B=failed CD=testing\ntesting C C+D\ntarget M+A`);
  });

  const VOUCHED = `
      pass A+B+C
      states ABC=merged D=testing
      trail A SUCCESSOR_TEST_RUN_PASSED MERGE_GRAPH_MERGE
      trail B TEST_RUN_REQUIRED_STATUS_FAILED SUCCESSOR_TEST_RUN_PASSED MERGE_GRAPH_MERGE
      target M+A+B+C
      candidates D=testing
      path D waiting pending testing
      `;

  it('with optimism, without depth, C vouches for A and B: all three land [V8]', () => {
    play(ON_0, `${QUEUE}${VOUCHED}`);
  });

  it('with optimism and depth 1, all three land [V8]', () => {
    play(ON_1, `${QUEUE}${VOUCHED}`);
  });

  it('with optimism and depth 2, all three land [V8]', () => {
    play(ON_2, `${QUEUE}${VOUCHED}`);
  });
});

describe('holds', () => {
  it('ends a hold an hour after the failure [V6]', () => {
    play(
      { ...ON_1, testingTimeoutMinutes: 300 },
      `
      submit A B
      wait 10m
      fail A
      states A=held
      wake 1h
      wait 59m
      states A=held
      wake 1m
      wait 1m
      states A=failed B=testing
      why A=TEST_RUN_REQUIRED_STATUS_FAILED
      testing B
      `,
    );
  });

  it('ends a hold at the testing timeout where that is sooner [V6]', () => {
    play(
      { ...ON_1, testingTimeoutMinutes: 20 },
      `
      submit A
      wait 10m
      submit B
      fail A
      states A=held
      wait 15m
      states A=held
      restart B             # the clock of B's tests starts again
      wait 5m
      states A=failed B=testing
      `,
    );
  });

  it('holds without a testing timeout for an hour too [V6]', () => {
    play({ ...ON_1, testingTimeoutMinutes: 0 }, 'submit A B\nfail A\nwake 1h\nwait 1h\nstates A=failed B=testing');
  });

  it('holds for a successor that arrives after the failure [V6] [V7]', () => {
    play(
      { ...ON_1, concurrency: 4 },
      `
      submit A B
      fail A+B
      submit C             # within one hop of B: started although it stands behind a failure
      testing A A+B+C
      submit D             # two hops: waits
      states D=pending
      pass A
      states A=merged B=held
      pass B+C
      states BC=merged D=testing
      target M+A+B+C
      `,
    );
  });

  it('starts nothing behind a failure without depth [V7]', () => {
    play(
      { concurrency: 4 },
      `
      submit A B
      fail A+B
      submit C
      states C=pending
      testing A
      pass A
      states B=failed
      testing C
      runs A A+B C
      `,
    );
  });

  it('counts hops from one to the next, not past those in between [V6]', () => {
    play(
      { ...ON_1, mode: 'PARALLEL' },
      `
      submit A[x] B[x] C[x,y] D[q]
      testing A A+B A+B+C D
      fail A
      states A=held
      fail A+B             # B is one hop behind A, C two: the hold is over
      states A=failed
      testing D B B+C
      `,
    );
  });

  it('holds for a direct successor in another lane of its own [V6]', () => {
    play(
      { ...ON_1, mode: 'PARALLEL' },
      `
      submit A[x,y] B[x] C[y]
      fail A
      fail A+B
      states AB=held
      pass A+C             # C contains A, and not B
      states AC=merged B=failed
      target M+A+C
      `,
    );
  });

  it('holds nobody for an entry in a lane that has nothing to do with it [V6]', () => {
    play({ ...ON_1, mode: 'PARALLEL' }, 'submit A[x] B[y]\nfail A\nstates A=failed B=testing\ntesting B');
  });

  it('holds a batch: the batch behind lands both, and nothing is searched [V6] [V8]', () => {
    play(
      { ...ON_1, batch: true, batchingMinSize: 3 },
      `
      submit A B C D E F
      fail ABC
      states ABC=held DEF=testing
      pass ABC+DEF
      states ABCDEF=merged
      target M+A+B+C+D+E+F
      runs ABC ABC+DEF
      `,
    );
  });

  it('holds a batch for one that still waits to be full behind it [V6] [B1]', () => {
    play(
      { ...OFF_1, batch: true, batchingMinSize: 2 },
      `
      submit A B
      submit C
      fail AB
      states AB=held C=pending
      wake 5m
      wait 5m
      testing AB+C
      pass AB+C
      testing C ~A ~A+B
      runs AB AB+C ~A ~A+B C
      `,
    );
  });

  it('lets a restart clear a held entry [V6] [C12]', () => {
    play(
      OFF_1,
      `
      submit A B
      fail A
      states A=held
      restart A
      states A=testing
      trail A TESTS_RESTARTED_BY_API_REQUEST TEST_RUN_STARTED
      path B waiting pending testing
      pass A
      states A=merged B=testing
      `,
    );
  });

  it('ends a hold at once when the run it waited for makes way for an urgent one [V6]', () => {
    play(
      { ...OFF_1, mode: 'PARALLEL', concurrency: 1, honorQuarantine: 'OFF' },
      `
      submit B[x] C[x] A[x]
      pass B
      fail C
      states C=held A=testing
      submit A[z]
      submit D[y] urgent
      states C=failed D=testing A=pending
      `,
    );
  });

  it('settles blame while the queue is paused, and starts nothing [V11]', () => {
    play(
      {},
      `
      submit A B C
      pause
      fail A+B
      states B=held
      pass A
      states A=passed B=failed C=pending
      target M
      testing
      resume
      states A=merged C=testing
      target M+A
      testing C
      `,
    );
  });
});

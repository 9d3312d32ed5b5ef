import { describe, it } from 'node:test';
import { play } from './scenario.ts';

const BATCH = { batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 5 } as const;

describe('how batches are formed', () => {
  it('of one each start all at once, also when an urgent one makes them begin again [B1] [O2]', () => {
    play(
      { mode: 'PARALLEL', concurrency: 2, batch: true, batchingMinSize: 1 },
      'submit A[x]\nsubmit D[y]\nsubmit B[x,z] urgent\nstates BD=testing A=pending\npass D\nstates A=testing',
    );
  });

  it('tests a batch when its oldest entry has waited long enough [B1]', () => {
    play(
      BATCH,
      `
      submit A
      wake 5m
      wait 1m
      submit B
      wait 90000ms
      submit C
      wake 150000ms
      wait 149999ms
      states ABC=pending
      testing
      wait 1ms
      testing ABC
      states ABC=testing
      runs ABC
      `,
    );
  });

  it('tests a batch as soon as it is full [B1]', () => {
    play(
      BATCH,
      `
      submit A
      wait 1m
      submit B
      wait 1m
      submit C
      wait 1m
      testing
      wake 2m
      submit D
      testing ABCD
      runs ABCD
      wake 300m
      `,
    );
  });

  it('tests a single entry when the wait is over [B1]', () => {
    play(BATCH, 'submit A\nwait 4m\nstates A=pending\nwake 1m\nwait 1m\ntesting A\nstates A=testing');
  });

  it('never waits with a wait of 0 [B1]', () => {
    play({ ...BATCH, batchingMaxWaitTimeMinutes: 0 }, 'submit A\ntesting A\nsubmit B\ntesting A A+B');
  });

  it('makes batches no larger than the size, in queue order [B1] [O1]', () => {
    play(
      { ...BATCH, batchingMinSize: 2, concurrency: 1 },
      `
      pause
      submit A B C D E
      submit F high
      resume
      testing FA
      order F A B C D E
      pass FA
      testing BC
      pass BC
      testing DE
      target M+F+A+B+C
      `,
    );
  });

  it('tests the next batch on top of the one ahead, and counts batches, not entries [B1] [C3] [C1]', () => {
    play(
      { ...BATCH, batchingMinSize: 2, concurrency: 2 },
      `
      submit A B C D E F
      testing AB AB+CD
      states EF=pending
      pass AB
      states AB=merged
      testing CD CD+EF
      target M+A+B
      `,
    );
  });

  it('starts the wait with the oldest of those that are left [B1]', () => {
    play(
      BATCH,
      `
      submit A
      wait 2m
      submit B
      wait 1m
      cancel A
      wake 4m
      wait 3m
      testing
      wait 1m
      testing B
      `,
    );
  });

  it('lets an urgent entry take nobody along for whom it would have to wait [B3] [O2]', () => {
    play(
      { mode: 'PARALLEL', concurrency: 1, batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 1 },
      `
      submit Q[q]
      wait 1m
      testing Q
      submit S[z] C[x,z]
      submit U[x] urgent
      testing U
      states QSC=pending
      `,
    );
  });

  it('forms groups again when an urgent entry has interrupted: who was, stands ahead of others [O1] [O2]', () => {
    play(
      { mode: 'PARALLEL', concurrency: 1, batch: true, batchingMinSize: 2 },
      `
      submit A[y] B[y]
      testing AB
      submit C[x,y]
      submit U[x] urgent
      states U=testing C=pending
      `,
    );
  });

  it('does not wait for a batch with an urgent entry in it [B3]', () => {
    play(BATCH, 'submit A\nsubmit B urgent\ntesting BA\nstates AB=testing');
  });

  it('groups only entries that overlap [B1] [C2]', () => {
    play(
      { ...BATCH, mode: 'PARALLEL', batchingMinSize: 2 },
      `
      submit A[x] B[y] C[z]
      testing
      submit D[x]
      testing AD
      states BC=pending
      submit E[z]
      testing AD CE
      submit F[q]
      wait 5m
      testing AD CE B F
      `,
    );
  });

  it('makes one batch of two lanes when an entry overlaps with both and they fit [B1]', () => {
    play(
      { ...BATCH, mode: 'PARALLEL', batchingMinSize: 3 },
      'submit A[x] B[y]\ntesting\nsubmit C[x,y]\ntesting ABC\nruns ABC',
    );
  });

  it('keeps two lanes apart that do not fit together [B1]', () => {
    play(
      { ...BATCH, mode: 'PARALLEL', batchingMinSize: 2 },
      `
      submit A[x] B[y] C[x,y]
      testing
      states ABC=pending
      wait 5m
      testing A B A+B+C
      `,
    );
  });

  it('does not join lanes past an entry that stands behind one of them [B1]', () => {
    play(
      { ...BATCH, mode: 'PARALLEL', batchingMinSize: 3, concurrency: 9 },
      `
      submit A[x,p] B[q] C[z] D[z]
      submit E[x,z]            # with A, C and D that would be four
      submit F[p,q]
      testing
      wait 5m
      testing A B CD A+CD+E A+B+F
      `,
    );
  });

  it('fills an open batch in the order of the line, and opens another behind a full one [B1]', () => {
    play(
      { ...BATCH, mode: 'PARALLEL', batchingMinSize: 2 },
      `
      submit A[x] B[x] C[x,y]
      testing AB
      states C=pending
      submit D[y]
      testing AB AB+CD
      `,
    );
  });
});

describe('entries that are not batched', () => {
  it('tests an entry with noBatch alone, in its place; what stands before it waits for nobody [B2]', () => {
    play(
      BATCH,
      `
      submit A B
      testing
      submit C nobatch
      testing AB AB+C
      submit D E F G
      testing AB AB+C AB+C+DEFG
      `,
    );
  });

  it('tests an entry alone that has a target named by a rule, also by its beginning [B2]', () => {
    const batchingRules = [
      { targetPattern: 'db', policy: 'ISOLATE' as const },
      { targetPattern: 'infra/*', policy: 'ISOLATE' as const },
    ];
    play(
      { ...BATCH, mode: 'PARALLEL', batchingRules, concurrency: 9 },
      `
      submit A[x] B[db,x]
      testing A A+B
      submit C[infra/net,x]
      testing A A+B A+B+C
      submit D[infra,x] E[dbx,x] F[xdb,x]
      testing A A+B A+B+C       # near is not enough: these wait for a fourth
      submit G[x]
      testing A A+B A+B+C A+B+C+DEFG
      `,
    );
  });

  it('lets an entry that impacts everything match no rule [B2]', () => {
    const batchingRules = [{ targetPattern: 'd*', policy: 'ISOLATE' as const }];
    play(
      { ...BATCH, mode: 'PARALLEL', batchingMinSize: 2, batchingRules },
      'submit A[ALL]\ntesting\nsubmit B[x]\ntesting AB',
    );
  });

  it('applies rules in parallel mode only [B2]', () => {
    const batchingRules = [{ targetPattern: 'db', policy: 'ISOLATE' as const }];
    play({ ...BATCH, batchingMinSize: 2, batchingRules }, 'submit A[db]\ntesting\nsubmit B[db]\ntesting AB');
  });

  it('lets nobody opt in where the queue does not batch [B1]', () => {
    play({ ...BATCH, batch: false }, 'submit A B\ntesting A A+B');
  });

  it('takes an entry out of a forming batch that is submitted again with noBatch [B2] [E4]', () => {
    play(BATCH, 'submit A B\ntesting\nsubmit B nobatch\ntesting A A+B');
  });
});

describe('what a batch survives', () => {
  it('lands all of a batch in order when it passes, and what is behind stays good [C4] [L2]', () => {
    play(
      { ...BATCH, batchingMinSize: 2 },
      `
      submit A B C D
      pass AB
      states AB=merged CD=testing
      why A=MERGE_GRAPH_MERGE B=MERGE_GRAPH_MERGE
      target M+A+B
      testing CD
      runs AB AB+CD
      `,
    );
  });

  it('holds a failed batch while one ahead is tested, and tests it again when that one fails [V4] [V5]', () => {
    play(
      { ...BATCH, batchingMinSize: 2 },
      `
      submit A B C D
      fail AB+CD
      states AB=testing CD=held
      fail AB
      states ABCD=testing
      trail A BISECTION_REQUIRED TEST_RUN_STARTED
      trail C PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED
      testing CD ~A ~A+B
      `,
    );
  });

  it('dissolves a batch when a member leaves; the others do not wait again, and batches behind restart [B9] [B3] [C5]', () => {
    play(
      { ...BATCH, batchingMinSize: 3 },
      `
      submit A B C D E F
      testing ABC ABC+DEF
      cancel B
      states B=cancelled ACDEF=testing
      trail A PREREQUISITE_MERGE_ITEM_CANCELLED TEST_RUN_STARTED
      trail F PREREQUISITE_MERGE_ITEM_CANCELLED TEST_RUN_STARTED
      testing ACD ACD+EF
      runs ABC ABC+DEF ACD ACD+EF
      `,
    );
  });

  it('dissolves a batch when a member is pushed to [B9] [E8]', () => {
    play(
      { ...BATCH, batchingMinSize: 2 },
      'submit A B\npush A\nstates A=cancelled B=testing\nwhy A=PR_PUSHED_TO\ntesting B\nruns AB B',
    );
  });

  it('restarts the whole batch when the tests of one member are restarted, and not those behind [C12]', () => {
    play(
      { ...BATCH, batchingMinSize: 2 },
      `
      submit A B C D
      restart B
      states ABCD=testing
      trail A TESTS_RESTARTED_BY_API_REQUEST TEST_RUN_STARTED
      trail B TESTS_RESTARTED_BY_API_REQUEST TEST_RUN_STARTED
      path C waiting pending testing
      testing AB AB+CD
      runs AB AB+CD AB
      `,
    );
  });

  it('holds pending entries behind a failed batch, and starts them once it is settled [V7]', () => {
    play(
      { ...BATCH, batchingMinSize: 2, concurrency: 3 },
      `
      submit A B C D
      fail AB+CD
      submit E F
      states EF=pending
      testing AB
      pass AB
      states AB=merged CD=testing EF=testing
      testing EF ~C ~C+D
      `,
    );
  });

  it('does not wait for a batch again after the target was moved [B3]', () => {
    play({ ...BATCH, batchingMinSize: 3 }, 'submit A B C\ncancel C\ntesting AB\nforeign X\ntesting AB\nruns ABC AB AB');
  });
});

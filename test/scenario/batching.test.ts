import { describe, it } from 'node:test';
import { play, story } from '../worlds/engine/story.ts';

const BATCH = { batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 5 } as const;

describe('how batches are formed', () => {
  story('of one each start all at once, also when an urgent one makes them begin again [B1] [O6]')`
    with mode=PARALLEL concurrency=2 batch=true batchingMinSize=1
    submit A[x] D[y]; submit B[x,z] urgent → BD=testing A=pending
    pass D                                 → A=testing
  `;

  story('tests a batch when its oldest entry has waited long enough [B10]', BATCH)`
    submit A      → wake 5m
    wait 1m; submit B; wait 90000ms; submit C → wake 150000ms
    wait 149999ms → ABC=pending; testing nothing
    wait 1ms      → testing ABC; ABC=testing; runs ABC
  `;

  story('tests a batch as soon as it is full [B10]', BATCH)`
    submit A; wait 1m; submit B; wait 1m; submit C; wait 1m → testing nothing; wake 2m
    submit D → testing ABCD; runs ABCD; wake 300m
  `;

  story('tests a single entry when the wait is over [B10]', BATCH)`
    submit A; wait 4m → A=pending; wake 1m
    wait 1m           → testing A; A=testing
  `;

  story('never waits with a wait of 0 [B10]', BATCH)`
    with batchingMaxWaitTimeMinutes=0
    submit A → testing A
    submit B → testing A A+B
  `;

  story('makes batches no larger than the size, in queue order [B1] [B10] [O1]', BATCH)`
    with batchingMinSize=2 concurrency=1
    pause; submit A B C D E; submit F high; resume → testing FA; order F A B C D E
    pass FA → testing BC
    pass BC → testing DE; target M+F+A+B+C
  `;

  story('tests the next batch on top of the one ahead, and counts batches, not entries [B1] [C3] [C1]', BATCH)`
    with batchingMinSize=2 concurrency=2
    submit A B C D E F → testing AB AB+CD; EF=pending
    pass AB            → AB=merged; testing CD CD+EF; target M+A+B
  `;

  story('starts the wait with the oldest of those that are left [B10]', BATCH)`
    submit A; wait 2m; submit B; wait 1m; cancel A → wake 4m
    wait 3m → testing nothing
    wait 1m → testing B
  `;

  story('lets an urgent entry take nobody along for whom it would have to wait [B3] [O6]')`
    with mode=PARALLEL concurrency=1 batch=true batchingMinSize=4 batchingMaxWaitTimeMinutes=1
    submit Q[q]; wait 1m                   → testing Q
    submit S[z] C[x,z]; submit U[x] urgent → testing U; QSC=pending
  `;

  story('forms groups again when an urgent entry has interrupted: who was, stands ahead of others [O1] [O6]')`
    with mode=PARALLEL concurrency=1 batch=true batchingMinSize=2
    submit A[y] B[y]                  → testing AB
    submit C[x,y]; submit U[x] urgent → U=testing C=pending
  `;

  story('does not wait for a batch with an urgent entry in it [B3]', BATCH)`
    submit A; submit B urgent → testing BA; AB=testing
  `;

  story('groups only entries that overlap [B1] [C2]', BATCH)`
    with mode=PARALLEL batchingMinSize=2
    submit A[x] B[y] C[z] → testing nothing
    submit D[x]           → testing AD; BC=pending
    submit E[z]           → testing AD CE
    submit F[q]; wait 5m  → testing AD CE B F
  `;

  story('makes one batch of two lanes when an entry overlaps with both and they fit [B1]', BATCH)`
    with mode=PARALLEL batchingMinSize=3
    submit A[x] B[y] → testing nothing
    submit C[x,y]    → testing ABC; runs ABC
  `;

  story('keeps two lanes apart that do not fit together [B1]', BATCH)`
    with mode=PARALLEL batchingMinSize=2
    submit A[x] B[y] C[x,y] → testing nothing; ABC=pending
    wait 5m                 → testing A B A+B+C
  `;

  story('does not join lanes past an entry that stands behind one of them [B1]', BATCH)`
    with mode=PARALLEL batchingMinSize=3 concurrency=9
    submit A[x,p] B[q] C[z] D[z]; submit E[x,z]  # with A, C and D that would be four
    submit F[p,q] → testing nothing
    wait 5m       → testing A B CD A+CD+E A+B+F
  `;

  story('fills an open batch in the order of the line, and opens another behind a full one [B1]', BATCH)`
    with mode=PARALLEL batchingMinSize=2
    submit A[x] B[x] C[x,y] → testing AB; C=pending
    submit D[y]             → testing AB AB+CD
  `;
});

describe('entries that are not batched', () => {
  story('tests an entry with noBatch alone, in its place; what stands before it waits for nobody [B2] [B11]', BATCH)`
    submit A B       → testing nothing
    submit C nobatch → testing AB AB+C
    submit D E F G   → testing AB AB+C AB+C+DEFG
  `;

  it('tests an entry alone that has a target named by a rule, also by its beginning [B2]', () => {
    const batchingRules = [
      { targetPattern: 'db', policy: 'ISOLATE' as const },
      { targetPattern: 'infra/*', policy: 'ISOLATE' as const },
    ];
    play({ ...BATCH, mode: 'PARALLEL', batchingRules, concurrency: 9 })`
      submit A[x] B[db,x]                 → testing A A+B
      submit C[infra/net,x]               → testing A A+B A+B+C
      submit D[infra,x] E[dbx,x] F[xdb,x] → testing A A+B A+B+C  # near is not enough: these wait for a fourth
      submit G[x]                         → testing A A+B A+B+C A+B+C+DEFG
    `;
  });

  it('lets an entry that impacts everything match no rule [B2]', () => {
    const batchingRules = [{ targetPattern: 'd*', policy: 'ISOLATE' as const }];
    play({ ...BATCH, mode: 'PARALLEL', batchingMinSize: 2, batchingRules })`
      submit A[ALL] → testing nothing
      submit B[x]   → testing AB
    `;
  });

  it('applies rules in parallel mode only [B2]', () => {
    const batchingRules = [{ targetPattern: 'db', policy: 'ISOLATE' as const }];
    play({ ...BATCH, batchingMinSize: 2, batchingRules })`
      submit A[db] → testing nothing
      submit B[db] → testing AB
    `;
  });

  story('lets nobody opt in where the queue does not batch [B1]', BATCH)`
    with batch=false
    submit A B → testing A A+B
  `;

  story('takes an entry out of a forming batch that is submitted again with noBatch [B2] [E4]', BATCH)`
    submit A B       → testing nothing
    submit B nobatch → testing A A+B
  `;
});

describe('a batch under test', () => {
  story('lands all of a batch in order when it passes, and what is behind stays good [C4] [L2]', BATCH)`
    with batchingMinSize=2
    submit A B C D; pass AB → AB=merged CD=testing; why A=MERGE_GRAPH_MERGE B=MERGE_GRAPH_MERGE; target M+A+B
                            → testing CD; runs AB AB+CD
  `;

  story(
    'holds a failed batch while one ahead is tested, and tests it again when that one fails [V4] [V27] [V5]',
    BATCH,
  )`
    with batchingMinSize=2
    submit A B C D; fail AB+CD → AB=testing CD=held
    fail AB                    → ABCD=testing; trail A BISECTION_REQUIRED TEST_RUN_STARTED
                               → trail C PREREQUISITE_MERGE_ITEM_FAILED TEST_RUN_STARTED; testing CD ~A ~A+B
  `;

  story(
    'dissolves a batch when a member leaves; the others do not wait again, and batches behind restart [B9] [B3] [C5]',
    BATCH,
  )`
    with batchingMinSize=3
    submit A B C D E F → testing ABC ABC+DEF
    cancel B           → B=cancelled ACDEF=testing; trail A PREREQUISITE_MERGE_ITEM_CANCELLED TEST_RUN_STARTED
                       → trail F PREREQUISITE_MERGE_ITEM_CANCELLED TEST_RUN_STARTED; testing ACD ACD+EF
                       → runs ABC ABC+DEF ACD ACD+EF
  `;

  story('dissolves a batch when a member is pushed to [B9] [E8]', BATCH)`
    with batchingMinSize=2
    submit A B; push A → A=cancelled B=testing; why A=PR_PUSHED_TO; testing B; runs AB B
  `;

  story('restarts the whole batch when the tests of one member are restarted, and not those behind [C12]', BATCH)`
    with batchingMinSize=2
    submit A B C D; restart B → ABCD=testing; trail A TESTS_RESTARTED_BY_API_REQUEST TEST_RUN_STARTED
                              → trail B TESTS_RESTARTED_BY_API_REQUEST TEST_RUN_STARTED
                              → path C waiting pending testing; testing AB AB+CD; runs AB AB+CD AB
  `;

  story('holds pending entries behind a failed batch, and starts them once it is settled [V7]', BATCH)`
    with batchingMinSize=2 concurrency=3
    submit A B C D; fail AB+CD; submit E F → EF=pending; testing AB
    pass AB                                → AB=merged CD=testing EF=testing; testing EF ~C ~C+D
  `;

  story('does not wait for a batch again after the target was moved [B3]', BATCH)`
    with batchingMinSize=3
    submit A B C; cancel C → testing AB
    foreign X              → testing AB; runs ABC AB AB
  `;
});

import { describe, it } from 'node:test';
import { play, story } from '../worlds/engine/story.ts';

describe('priorities: they reorder what is not under test, and only urgent interrupts', () => {
  story('puts a high entry ahead of pending ones, and behind what is under test [O1] [O2]')`
    with concurrency=2
    submit A B C; submit D high → testing A A+B; D=pending C=pending; order A B D C
    pass A                      → testing B B+D; order B D C
  `;

  story('starts an urgent entry on the target at once; the line is built again behind it [O6] [C24]')`
    with concurrency=2
    submit A B C    → testing A A+B
    submit D urgent → testing D D+A; DA=testing BC=pending; trail A SKIP_THE_LINE_INTERRUPTED TEST_RUN_STARTED
                    → why B=SKIP_THE_LINE_INTERRUPTED C=MERGE_ITEM_NOW_READY; cause B=D; order D A B C
                    → runs A A+B D D+A
  `;

  story('puts an entry of the same priority behind those that were admitted before it [O1]')`
    with concurrency=1
    submit A B; submit C high; submit D high; submit E low
    submit F 10; submit G 255 → order A C D F B E G
  `;

  story('does not let a second urgent entry interrupt the first [O7]')`
    with concurrency=2
    submit A; submit B urgent → testing B B+A
    submit C urgent           → testing B B+C; A=pending
                              → trail B API_REQUESTED MERGE_ITEM_NOW_READY TEST_RUN_STARTED
                              → why A=SKIP_THE_LINE_INTERRUPTED; cause A=C; order B C A
  `;

  it('does not let an urgent entry interrupt what another urgent one is built on [O7]', () => {
    play()`submit A B; submit B urgent; submit C urgent → testing A A+B A+B+C; runs A A+B A+B+C`;
    play()`
      with mode=PARALLEL concurrency=2
      submit A[x] D[x]; submit D[x] urgent; submit B[z] urgent → AD=testing B=pending
      pass A → B=testing
    `;
  });

  story('does not let an urgent entry interrupt a batch with another urgent one in it [O7] [B3]')`
    with batch=true batchingMinSize=2
    submit A; submit B urgent → testing BA
    submit C urgent           → testing BA BA+C; path A waiting pending testing
  `;

  story('takes no slot of a run whose members are being landed by another [O7] [L7]', { mode: 'PARALLEL' })`
    with canOptimisticallyMerge=true concurrency=2
    hold landings; submit A[x] B[x]; pass A+B; set concurrency=1; submit C[y] urgent → C=pending; testing A
    release landings                                                                → AB=merged; testing C
  `;

  story('waits for a slot where all are taken by urgent entries [O7] [C3]')`
    with concurrency=2
    submit A urgent; submit B urgent; submit C urgent → testing A A+B; C=pending
    pass A → testing B B+C
  `;

  story('reorders a pending entry that is submitted again, and nothing that is under test [O2] [E4]')`
    with concurrency=2
    submit A B C D; submit B high → testing A A+B  # under test: nothing moves
    submit A low                  → testing A A+B
    submit D high                 → order A B D C
    submit D low                  → order A B C D; path B waiting pending testing
                                  → path A waiting pending testing
  `;

  story('keeps its place by priority through a retest [O1]')`
    with concurrency=2
    submit A B C; submit D low → testing A A+B
    fail A                     → A=failed; testing B B+C; order B C D
  `;

  story('interrupts only the lanes that an urgent entry overlaps with [O6]')`
    with mode=PARALLEL concurrency=4
    submit A[x] B[y] C[x] → testing A B A+C
    submit D[x] urgent    → testing B D D+A D+A+C; path B waiting pending testing
                          → trail A SKIP_THE_LINE_INTERRUPTED TEST_RUN_STARTED
                          → trail C SKIP_THE_LINE_INTERRUPTED TEST_RUN_STARTED
  `;

  story('takes the slot of the last in the line where an urgent entry overlaps with nobody and no slot is free [O6]')`
    with mode=PARALLEL concurrency=2
    submit A[x] B[y]   → testing A B
    submit C[z] urgent → testing A C; B=pending; why B=SKIP_THE_LINE_INTERRUPTED; cause B=C
                       → path A waiting pending testing
  `;

  story('takes no slot where one is free [O6]')`
    with mode=PARALLEL concurrency=3
    submit A[x] B[y]; submit C[z] urgent → testing A B C; path A waiting pending testing
                                         → path B waiting pending testing
  `;

  story('interrupts entries that passed but have not landed [O6] [C24]')`
    submit A B; pass A+B → B=passed
    submit C urgent      → ABC=testing; trail B TEST_RUN_PASSED SKIP_THE_LINE_INTERRUPTED TEST_RUN_STARTED
                         → testing C C+A C+A+B
  `;

  story('does not interrupt what is being landed, and is tested on top of it [O6] [L7]')`
    hold landings; submit A B; pass A; submit C urgent → A=passed B=testing C=testing; testing A+C A+C+B
    release landings → A=merged; target M+A; testing C C+B; runs A A+B A+C A+C+B
  `;

  story('makes an entry urgent that is submitted again while it waits [O6] [E4]')`
    with concurrency=1
    submit A B      → testing A
    submit B urgent → testing B; why A=SKIP_THE_LINE_INTERRUPTED; order B A
  `;

  story('interrupts nothing in a paused queue, and everything once it runs [O6] [L5]')`
    submit A; submit U unready; pause; submit U urgent; ready U → testing A; U=waiting
    resume → testing U U+A
  `;

  it('admits at most 500 entries, the next by priority, and an urgent one always [O3]', () => {
    const told = play()`
      with concurrency=1
    `;
    for (let number = 1001; number <= 1501; number += 1) told.submit(number as never);
    told.submit(1 as never);
    told.submit(2 as never, { priority: 'high' });
    told.play('→ AB=waiting');
    told.submit(3 as never, { priority: 'urgent' });
    told.play(`
             → C=testing AB=waiting
      pass C → C=merged
    `);
    // Two left and one was admitted, so 500 are in the line again. The entry with high priority goes first.
    const [front] = told.candidates();
    if (front === undefined) throw new Error('nothing is under test');
    told.reportCheck(front.number, {});
    told.play('→ B=pending A=waiting');
  });

  it('admits more than 500 where more could be under test at once [O3]', () => {
    const told = play()`
      with concurrency=9 batch=true batchingMinSize=60
    `;
    for (let number = 1001; number <= 1540; number += 1) told.submit(number as never);
    told.play('submit A → A=waiting');
    told.update({ concurrency: 10 });
    told.play('→ A=pending');
  });

  story('cancels an entry that is not ready for too long, but not one that only waits for the queue [O4]')`
    with notReadyTimeoutHours=2
    submit A unready → wake 2h
    wait 1h; submit B unready; wait 30m; ready B → B=testing
    wait 29m         → A=waiting; wake 1m
    wait 1m          → A=cancelled; why A=NOT_READY_TIMEOUT_EXPIRED
    pause; submit C  → wake 4h30m  # B's tests, 300 minutes after they began; C waits for the queue, and for no clock
    wait 3h          → C=waiting
    resume           → C=testing
  `;
});

describe('ageing', () => {
  story('an entry that was not ready begins to age when it is admitted [O5]')`
    with concurrency=1 priorityAgeingHours=1
    submit X; submit A low unready; wait 2h; ready A; submit B → order X B A
  `;

  story('an entry that is set aside ages like those that wait [O5] [C33]')`
    with concurrency=2 priorityAgeingHours=1
    conflict G A; submit A; submit G low → aside G=A
    wait 1h; submit B C                  → order A B G C
  `;
});

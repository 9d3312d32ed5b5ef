import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Scenario } from '../worlds/engine/scenario.ts';
import { play, story } from '../worlds/engine/story.ts';

const PARALLEL = { mode: 'PARALLEL' } as const;

function park(told: Scenario): void {
  told.queue = { ...told.queue, parked: { reason: 'a test says so', since: told.now } };
}

describe('a waiting entry starts as soon as something lets it', () => {
  story('starts what is within reach of a failure when the depth is raised [V7]')`
    submit A B; fail A+B; submit C → testing A
    set pendingFailureDepth=1      → C=testing; testing A A+B+C
  `;

  story('starts what arrives behind a failure within the depth, and nothing further [V7]')`
    with pendingFailureDepth=1
    submit A B; fail A+B; submit C → C=testing
    submit D                       → D=pending; testing A A+B+C
  `;

  story('starts what does not stand behind a failure, whatever the depth [V7] [C1]', PARALLEL)`
    with pendingFailureDepth=1
    submit A[x] B[x]; fail A+B; submit C[y] → B=held C=testing; testing A C
  `;

  story('starts what stood behind a failure that a newer attempt has cleared [V7] [V9]')`
    submit A B; report A+B FAILURE started=-5m; submit C → C=pending
    report A+B SUCCESS started=-1m → testing A A+B+C
  `;

  story('does not take a failure that somebody vouches for as one to wait for [V7] [V8]')`
    with canOptimisticallyMerge=true pendingFailureDepth=1
    submit A B; fail A; hold landings; pass A+B → AB=passed
    submit C → C=testing
  `;

  story('starts the line again when the last run of a search leaves a slot they share [B8] [C3]')`
    with concurrency=1 bisectionConcurrency=0 batch=true batchingMinSize=2
    submit A B; fail AB; set batch=false; submit C → C=pending
    fail ~A ~B → AB=failed C=testing
  `;

  it('goes on in a switch of modes when it is un-parked [I2] [Q4]', () => {
    const told = play()`with concurrency=1; submit A B; set mode=PARALLEL → queue SWITCHING_MODES`;
    park(told);
    told.play(`
      fail A → A=failed B=pending; testing nothing
      resume → queue SWITCHING_MODES; B=testing
    `);
  });

  it('starts nothing again in a parked queue [I2]', () => {
    const told = play()`submit A`;
    park(told);
    told.play(`
      cut A  → A=pending; testing nothing; runs A
      resume → A=testing; runs A A
    `);
  });

  it('builds on the commit ahead only where that is the head and all that lies beneath [C1]', () => {
    const told = play(PARALLEL)`submit A[x] B[y] C[x]; pass B; submit D[x] → testing A A+C A+C+D`;
    assert.equal(told.candidate('A+C').parent, told.candidate('A').number);
    assert.equal(told.candidate('A+C+D').parent, undefined);
    const apart = play(PARALLEL)`submit A[x] B[y] C[x,y] → testing A B A+B+C`;
    assert.equal(apart.candidate('A+B+C').parent, undefined);
  });
});

describe('an entry that takes the place of another', () => {
  story('goes before new runs of a search where slots are shared [B8] [V3]', PARALLEL)`
    with concurrency=2 bisectionConcurrency=0 batch=true batchingMinSize=2
    submit A[x] B[x]; submit C[y] nobatch → testing AB C
    pause; fail AB; cut C                 → ABC=pending
    resume                                → C=testing; testing C ~A
  `;

  story('has a slot of the search where it is of one, however full the line is [B8] [V3]')`
    with concurrency=1 bisectionConcurrency=1 batch=true batchingMinSize=2
    submit A B; fail AB; submit C nobatch → testing C ~A
    cut ~A                                → testing C ~A
  `;

  story('is not taken for a run under way once it has passed and waits for others [B8]', PARALLEL)`
    with bisectionConcurrency=2 batch=true batchingMinSize=4
    submit A[x] B[x] C[x] D[x] E[y] F[y] G[y] H[y]; fail ABCD EFGH → testing ~AB ~AB+CD
    pass ~AB+CD → testing ~AB ~EF
  `;

  story('needs no slot to test the head again [V10] [V3]')`
    with concurrency=1
    submit A B C; fail A B → testing C HEAD
    cut HEAD               → testing C HEAD
    fail C                 → C=held
  `;
});

describe('urgent entries and those they pass', () => {
  story('interrupts nothing in a paused queue, and then does [O6] [V11]')`
    with concurrency=1
    submit A B; pause; submit B urgent → A=testing B=pending
    resume                             → A=pending B=testing; why A=SKIP_THE_LINE_INTERRUPTED
  `;

  story('interrupts nothing that is held because the target is red [O7] [V16]')`
    submit A B C; fail A B C HEAD → C=held
    submit D urgent               → C=held D=testing; testing !D
  `;

  story('goes ahead of what has passed and has not begun to land [O6]')`
    submit A; pause; pass A; submit B urgent; resume → why A=TEST_RUN_STARTED; testing B B+A; target M
  `;

  story('does not interrupt what only stands behind another urgent one it overlaps with [O7]', PARALLEL)`
    submit A[x,y] urgent; submit B[y]; submit C[x] urgent → testing A A+B A+C; runs A A+B A+C
  `;

  story('interrupts a batch of which it overlaps with one entry only [O6] [B1]', PARALLEL)`
    with batch=true batchingMinSize=2
    submit A[x] B[x,y] → testing AB
    submit C[y] urgent → trail A SKIP_THE_LINE_INTERRUPTED TEST_RUN_STARTED; ABC=testing
  `;

  story('takes the slot of one that has a slot [O6]', PARALLEL)`
    with concurrency=3
    submit A[x] B[y] C[x]; pass A+C; set concurrency=2
    submit D[z] urgent → A=testing B=pending C=passed D=testing
  `;
});

describe('entries that are not ready', () => {
  story('leave in their own time, whoever was here before them and is not due yet [O4]')`
    with notReadyTimeoutHours=1
    pause; submit A; wait 30m; submit B unready; wait 20m; block A
    wait 40m → A=waiting B=cancelled
    wait 20m → A=cancelled
  `;
});

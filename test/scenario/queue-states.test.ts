import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explain } from '../../src/engine/explain.ts';
import { findEntry } from '../../src/engine/queue.ts';
import { play } from './scenario.ts';
import { numberOf } from './words.ts';

describe('what a queue does in each of its states', () => {
  it('RUNNING admits, tests and lands [Q3]', () => {
    play({}, 'queue RUNNING\nsubmit A\nstates A=testing\npass A\nstates A=merged\ntarget M+A');
  });

  it('PAUSED admits nothing, starts nothing, lands nothing, and finishes what runs [Q3] [L5]', () => {
    play(
      { concurrency: 1 },
      `
      submit A B
      pause
      queue PAUSED
      submit C
      states A=testing B=pending C=waiting
      pass A
      states A=passed B=pending C=waiting
      target M
      candidates A=passed
      order A B C
      resume
      states A=merged B=testing C=pending
      target M+A
      `,
    );
  });

  it('PAUSED restarts no tests: what is restarted waits in its place [V11] [L5]', () => {
    play(
      {},
      `
      submit A B
      pause
      restart A
      states A=pending B=testing
      why A=TESTS_RESTARTED_BY_API_REQUEST
      candidates A=waiting A+B=testing
      cut A+B
      candidates A=waiting A+B=waiting
      resume
      testing A A+B
      runs A A+B A A+B
      `,
    );
  });

  it('DRAINING admits nothing, and tests and lands what is in the line [Q3] [L5]', () => {
    play(
      { concurrency: 1 },
      `
      submit A B
      submit C unready
      drain
      queue DRAINING
      submit D
      ready C
      states A=testing B=pending CD=waiting
      pass A
      states A=merged B=testing CD=waiting
      pass B
      states B=merged CD=waiting
      target M+A+B
      testing
      resume
      states C=testing D=pending
      `,
    );
  });

  it('resumes from DRAINING and from PAUSED, and goes from one to the other [Q3]', () => {
    play({}, 'drain\npause\nqueue PAUSED\ndrain\nqueue DRAINING\nresume\nqueue RUNNING');
  });

  it('says why a submission to a queue that does not run is parked [Q3] [E12]', () => {
    for (const [act, code] of [
      ['pause', 'QUEUE_PAUSED'],
      ['drain', 'QUEUE_DRAINING'],
    ] as const) {
      const told = play({}, `${act}\nsubmit A\nstates A=waiting`);
      const entry = findEntry(told.queue, numberOf('A'));
      assert.ok(entry !== undefined);
      assert.deepEqual(
        explain(told.queue, entry, told.now).reasons.map((reason) => reason.code),
        [code],
      );
    }
  });

  it('lands what had passed as soon as it is resumed, in order and at once [L5]', () => {
    play({}, 'submit A B C\npause\npass A+B+C\npass A+B\npass A\nstates ABC=passed\nresume\ntarget M+A+B+C');
  });
});

describe('switching modes', () => {
  it('happens at once without admitted entries [Q4]', () => {
    const told = play({}, 'submit A unready\nset mode="PARALLEL"\nqueue RUNNING');
    assert.equal(told.queue.settings.mode, 'PARALLEL');
  });

  it('waits for the admitted entries, tests and lands them, and goes back to the state it had [Q4] [L5]', () => {
    const told = play(
      { concurrency: 1 },
      `
      submit A B
      set mode="PARALLEL"
      queue SWITCHING_MODES
      submit C
      states A=testing B=pending C=waiting
      pass A
      states A=merged B=testing
      queue SWITCHING_MODES
      `,
    );
    assert.equal(told.queue.settings.mode, 'SINGLE');
    told.play('fail B\nstates B=failed C=testing\nqueue RUNNING');
    assert.equal(told.queue.settings.mode, 'PARALLEL');
  });

  it('goes back to DRAINING where it was draining [Q4]', () => {
    play({}, 'submit A\ndrain\nset mode="PARALLEL"\nqueue SWITCHING_MODES\npass A\nqueue DRAINING');
  });

  it('ends when the last entry leaves by other ways than landing [Q4]', () => {
    play({}, 'submit A\nset mode="PARALLEL"\ncancel A\nqueue RUNNING');
  });

  it('waits for entries that are being searched [Q4] [B4]', () => {
    play(
      { batch: true, batchingMinSize: 2 },
      `
      submit A B
      fail AB
      set mode="PARALLEL"
      queue SWITCHING_MODES
      testing ~A ~A+B
      pass ~A
      states A=merged
      queue SWITCHING_MODES
      fail ~A+B
      states B=failed
      queue RUNNING
      `,
    );
  });

  it('does not end while a landing is under way [Q4] [L1]', () => {
    play(
      {},
      `
      hold landings
      submit A
      pass A
      set mode="PARALLEL"
      queue SWITCHING_MODES
      release landings
      queue RUNNING
      target M+A
      `,
    );
  });

  it('can be paused and resumed meanwhile, and goes back to what was said last [Q5]', () => {
    const told = play({}, 'submit A\nset mode="PARALLEL"\npause\nqueue PAUSED\npass A\nstates A=passed\ntarget M');
    told.play('resume\nstates A=merged\nqueue RUNNING');
    assert.equal(told.queue.settings.mode, 'PARALLEL');
    const paused = play({}, 'submit A\nset mode="PARALLEL"\npause\ncancel A\nqueue PAUSED');
    assert.equal(paused.queue.settings.mode, 'PARALLEL');
    const drained = play({}, 'submit A\nset mode="PARALLEL"\ndrain\nqueue SWITCHING_MODES\npass A\nqueue DRAINING');
    assert.equal(drained.queue.settings.mode, 'PARALLEL');
  });

  it('can be left while the branch is red: RUNNING tests again what is held [Q5] [V16]', () => {
    play(
      {},
      `
      submit A B C
      fail A
      fail B
      close A B
      set mode="PARALLEL"
      fail HEAD
      fail C
      states C=held
      queue SWITCHING_MODES
      resume
      testing C
      pass C
      queue RUNNING
      `,
    );
  });

  it('refuses every write of settings meanwhile [Q5]', () => {
    play(
      {},
      `
      submit A
      set mode="PARALLEL"
      set concurrency=2
      refused MODE_CHANGE_IN_PROGRESS
      set mode="SINGLE"
      refused MODE_CHANGE_IN_PROGRESS
      queue SWITCHING_MODES
      states A=testing
      `,
    );
  });

  it('is no switch where the queue has that mode [Q5]', () => {
    play({}, 'submit A\nset mode="SINGLE"\nqueue RUNNING\nstates A=testing');
  });

  it('is refused for a paused queue that is not empty, entries that are not ready included [Q6]', () => {
    play({}, 'submit A\npause\nset mode="PARALLEL"\nrefused QUEUE_NOT_EMPTY\nqueue PAUSED');
    play({}, 'submit A unready\npause\nset mode="PARALLEL"\nrefused QUEUE_NOT_EMPTY');
    const told = play({}, 'pause\nset mode="PARALLEL"\nqueue PAUSED');
    assert.equal(told.queue.settings.mode, 'PARALLEL');
  });

  it('back to SINGLE, every entry impacts everything again [Q4] [C1]', () => {
    play(
      { mode: 'PARALLEL' },
      `
      submit A[x] B[y]
      testing A B
      set mode="SINGLE"
      queue SWITCHING_MODES
      submit C[z]
      pass A
      pass B
      queue RUNNING
      submit D[w]
      testing C C+D
      target M+A+B
      `,
    );
  });
});

describe('settings that change while entries are in the line', () => {
  it('starts more when there are more slots, and stops nothing when there are fewer [C3]', () => {
    play(
      { concurrency: 1 },
      `
      submit A B C
      testing A
      set concurrency=3
      testing A A+B A+B+C
      set concurrency=1
      testing A A+B A+B+C
      `,
    );
  });

  it('refuses a value out of range, and changes nothing at all [S2]', () => {
    const told = play(
      {},
      `
      submit A
      set concurrency=0 batch=true
      refused VALIDATION_FAILED
      set concurrency=1001
      refused VALIDATION_FAILED
      set pendingFailureDepth=-1
      refused VALIDATION_FAILED
      set testingTimeoutMinutes=10081
      refused VALIDATION_FAILED
      set batchingMinSize=0
      refused VALIDATION_FAILED
      set concurrency=1.5
      refused VALIDATION_FAILED
      set concurrency="many"
      refused VALIDATION_FAILED
      states A=testing
      `,
    );
    assert.equal(told.queue.settings.batch, false);
    assert.equal(told.queue.settings.concurrency, 4);
  });

  it('uses the testing timeout as it is, also for what runs already [V1]', () => {
    play({}, 'submit A\nwait 20m\nset testingTimeoutMinutes=15\nstates A=failed\nwhy A=TEST_RUN_TIMEOUT');
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findEntry } from '../../src/engine/model/queue.ts';
import { explain } from '../../src/words/explain.ts';
import { pluck } from '../helpers/pluck.ts';
import { play, story } from '../worlds/engine/story.ts';
import { numberOf } from '../worlds/engine/words.ts';

describe('the states of a queue', () => {
  story('RUNNING admits, tests and lands [Q3]')`
             → queue RUNNING
    submit A → A=testing
    pass A   → A=merged; target M+A
  `;

  story('PAUSED admits nothing, starts nothing, lands nothing, and finishes what runs [Q3] [L5]')`
    with concurrency=1
    submit A B; pause → queue PAUSED
    submit C          → A=testing B=pending C=waiting
    pass A            → A=passed B=pending C=waiting; target M; candidates A=passed; order A B C
    resume            → A=merged B=testing C=pending; target M+A
  `;

  story('PAUSED with an end goes on then, also in the middle of a mode switch [Q11] [Q9]')`
    with concurrency=1
    submit A B; pause for=1h; wait 59m; pass A → queue PAUSED; A=passed B=pending
    wait 1m                                    → queue RUNNING; A=merged B=testing
    pause; wait 2h                             → queue PAUSED
    resume; set mode=PARALLEL; pause for=10m   → queue PAUSED
    wait 10m                                   → queue SWITCHING_MODES
    pass B                                     → queue RUNNING; B=merged
  `;

  it('keeps who set its state, when, why and until when [Q10]', () => {
    const told = play()`submit A; pause for=1h`;
    const at = told.now;
    assert.deepEqual(told.queue.stateChange, { by: 'ada', at, reason: 'release', until: at + 3_600_000 });
    told.play('set concurrency=3');
    assert.equal(told.queue.stateChange?.reason, 'release');
    told.play('wait 1h');
    assert.deepEqual(told.queue.stateChange, { by: 'sluice', at: told.now, reason: 'the pause by ada ended' });
  });

  story('PAUSED restarts no tests: what is restarted waits in its place [V11] [L5]')`
    submit A B; pause; restart A → A=pending B=testing; why A=TESTS_RESTARTED_BY_API_REQUEST
                                 → candidates A=waiting A+B=testing
    cut A+B                      → candidates A=waiting A+B=waiting
    resume                       → testing A A+B; runs A A+B A A+B
  `;

  story('DRAINING admits nothing, and tests and lands what is in the line [Q3] [L5]')`
    with concurrency=1
    submit A B; submit C unready; drain → queue DRAINING
    submit D; ready C                   → A=testing B=pending CD=waiting
    pass A                              → A=merged B=testing CD=waiting
    pass B                              → B=merged CD=waiting; target M+A+B; testing nothing
    resume                              → C=testing D=pending
  `;

  story('resumes from DRAINING and from PAUSED, and goes from one to the other [Q3]')`
    drain; pause → queue PAUSED
    drain        → queue DRAINING
    resume       → queue RUNNING
  `;

  it('says why a submission to a queue that does not run is parked [Q3] [E12]', () => {
    for (const [act, code] of [
      ['pause', 'QUEUE_PAUSED'],
      ['drain', 'QUEUE_DRAINING'],
    ] as const) {
      const told = play()`
        ${act}
        submit A → A=waiting
      `;
      const entry = findEntry(told.queue, numberOf('A'));
      assert.ok(entry !== undefined);
      assert.deepEqual(pluck(explain(told.queue, entry, told.now).reasons, 'code'), [code]);
    }
  });

  story('lands what had passed as soon as it is resumed, in order and at once [L5]')`
    submit A B C; pause; pass A+B+C A+B A → ABC=passed
    resume                                → target M+A+B+C
  `;
});

describe('switching modes', () => {
  it('happens at once without admitted entries [Q4]', () => {
    const told = play()`submit A unready; set mode="PARALLEL" → queue RUNNING`;
    assert.equal(told.queue.settings.mode, 'PARALLEL');
  });

  it('waits for the admitted entries, tests and lands them, and goes back to the state it had [Q4] [L5]', () => {
    const told = play()`
      with concurrency=1
      submit A B; set mode="PARALLEL" → queue SWITCHING_MODES
      submit C                        → A=testing B=pending C=waiting
      pass A                          → A=merged B=testing; queue SWITCHING_MODES
    `;
    assert.equal(told.queue.settings.mode, 'SINGLE');
    told.play('fail B → B=failed C=testing; queue RUNNING');
    assert.equal(told.queue.settings.mode, 'PARALLEL');
  });

  story('goes back to DRAINING where it was draining [Q4]')`
    submit A; drain; set mode="PARALLEL" → queue SWITCHING_MODES
    pass A                               → queue DRAINING
  `;

  story('ends when the last entry leaves by other ways than landing [Q4]')`
    submit A; set mode="PARALLEL"; cancel A → queue RUNNING
  `;

  story('waits for entries that are being searched [Q4] [B4]')`
    with batch=true batchingMinSize=2
    submit A B; fail AB; set mode="PARALLEL" → queue SWITCHING_MODES; testing ~A ~A+B
    pass ~A                                  → A=merged; queue SWITCHING_MODES
    fail ~A+B                                → B=failed; queue RUNNING
  `;

  story('does not end while a landing is under way [Q4] [L1]')`
    hold landings; submit A; pass A; set mode="PARALLEL" → queue SWITCHING_MODES
    release landings → queue RUNNING; target M+A
  `;

  it('can be paused and resumed meanwhile, and goes back to what was said last [Q9]', () => {
    const told = play()`
      submit A; set mode="PARALLEL"; pause → queue PAUSED
      pass A                               → A=passed; target M
      resume                               → A=merged; queue RUNNING
    `;
    assert.equal(told.queue.settings.mode, 'PARALLEL');
    const paused = play()`submit A; set mode="PARALLEL"; pause; cancel A → queue PAUSED`;
    assert.equal(paused.queue.settings.mode, 'PARALLEL');
    const drained = play()`
      submit A; set mode="PARALLEL"; drain → queue SWITCHING_MODES
      pass A                               → queue DRAINING
    `;
    assert.equal(drained.queue.settings.mode, 'PARALLEL');
  });

  story('can be left while the branch is red: RUNNING tests again what is held [Q9] [V38]')`
    submit A B C; fail A B; close A B; set mode="PARALLEL"
    fail HEAD C → C=held; queue SWITCHING_MODES
    resume      → testing C
    pass C      → queue RUNNING
  `;

  story('refuses every write of settings meanwhile [Q5]')`
    submit A; set mode="PARALLEL"; set concurrency=2 → refused MODE_CHANGE_IN_PROGRESS
    set mode="SINGLE" → refused MODE_CHANGE_IN_PROGRESS; queue SWITCHING_MODES; A=testing
  `;

  story('is no switch where the queue has that mode [Q5]')`submit A; set mode="SINGLE" → queue RUNNING; A=testing`;

  it('is refused for a paused queue that is not empty, entries that are not ready included [Q6]', () => {
    play()`submit A; pause; set mode="PARALLEL" → refused QUEUE_NOT_EMPTY; queue PAUSED`;
    play()`submit A unready; pause; set mode="PARALLEL" → refused QUEUE_NOT_EMPTY`;
    const told = play()`pause; set mode="PARALLEL" → queue PAUSED`;
    assert.equal(told.queue.settings.mode, 'PARALLEL');
  });

  story('back to SINGLE, every entry impacts everything again [Q4] [C1]')`
    with mode=PARALLEL
    submit A[x] B[y]      → testing A B
    set mode="SINGLE"     → queue SWITCHING_MODES
    submit C[z]; pass A B → queue RUNNING
    submit D[w]           → testing C C+D; target M+A+B
  `;
});

describe('settings that change while entries are in the line', () => {
  story('starts more when there are more slots, and stops nothing when there are fewer [C3]')`
    with concurrency=1
    submit A B C      → testing A
    set concurrency=3 → testing A A+B A+B+C
    set concurrency=1 → testing A A+B A+B+C
  `;

  it('refuses a value out of range, and changes nothing at all [S2]', () => {
    const told = play()`
      submit A; set concurrency=0 batch=true → refused VALIDATION_FAILED
      set concurrency=1001                   → refused VALIDATION_FAILED
      set pendingFailureDepth=-1             → refused VALIDATION_FAILED
      set testingTimeoutMinutes=10081        → refused VALIDATION_FAILED
      set batchingMinSize=0                  → refused VALIDATION_FAILED
      set concurrency=1.5                    → refused VALIDATION_FAILED
      set concurrency="many"                 → refused VALIDATION_FAILED; A=testing
    `;
    assert.equal(told.queue.settings.batch, false);
    assert.equal(told.queue.settings.concurrency, 4);
  });

  story('uses the testing timeout as it is, also for what runs already [V23] [V78]')`
    submit A; wait 20m; set testingTimeoutMinutes=15 → A=failed; why A=TEST_RUN_TIMEOUT
  `;
});

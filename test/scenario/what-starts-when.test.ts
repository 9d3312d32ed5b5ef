import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play, type Scenario } from './scenario.ts';

const PARALLEL = { mode: 'PARALLEL' } as const;

function park(told: Scenario): void {
  told.queue = { ...told.queue, parked: { reason: 'a test says so', since: told.now } };
}

describe('what waits is started by whatever lets it', () => {
  it('starts what is within reach of a failure when the depth is raised [V7]', () => {
    play({}, 'submit A B\nfail A+B\nsubmit C\ntesting A\nset pendingFailureDepth=1\nstates C=testing\ntesting A A+B+C');
  });

  it('starts what arrives behind a failure within the depth, and nothing further [V7]', () => {
    play(
      { pendingFailureDepth: 1 },
      'submit A B\nfail A+B\nsubmit C\nstates C=testing\nsubmit D\nstates D=pending\ntesting A A+B+C',
    );
  });

  it('starts what does not stand behind a failure, whatever the depth [V7] [C1]', () => {
    play(
      { ...PARALLEL, pendingFailureDepth: 1 },
      'submit A[x] B[x]\nfail A+B\nsubmit C[y]\nstates B=held C=testing\ntesting A C',
    );
  });

  it('starts what stood behind a failure that a newer attempt has cleared [V7] [V9]', () => {
    play(
      {},
      'submit A B\nreport A+B FAILURE started=-5m\nsubmit C\nstates C=pending\nreport A+B SUCCESS started=-1m\ntesting A A+B+C',
    );
  });

  it('does not take a failure that somebody vouches for as one to wait for [V7] [V8]', () => {
    play(
      { canOptimisticallyMerge: true, pendingFailureDepth: 1 },
      'submit A B\nfail A\nhold landings\npass A+B\nstates AB=passed\nsubmit C\nstates C=testing',
    );
  });

  it('starts the line again when the last run of a search leaves a slot they share [B8] [C3]', () => {
    play(
      { concurrency: 1, bisectionConcurrency: 0, batch: true, batchingMinSize: 2 },
      `
      submit A B
      fail AB
      set batch=false
      submit C
      states C=pending
      fail ~A
      fail ~B
      states AB=failed C=testing
      `,
    );
  });

  it('goes on in a switch of modes when it is un-parked [I2] [Q4]', () => {
    const told = play({ concurrency: 1 }, 'submit A B\nset mode=PARALLEL\nqueue SWITCHING_MODES');
    park(told);
    told.play('fail A\nstates A=failed B=pending\ntesting\nresume\nqueue SWITCHING_MODES\nstates B=testing');
  });

  it('starts nothing again in a parked queue [I2]', () => {
    const told = play({}, 'submit A');
    park(told);
    told.play('cut A\nstates A=pending\ntesting\nruns A\nresume\nstates A=testing\nruns A A');
  });

  it('builds on the commit ahead only where that is the head and all that lies beneath [C1]', () => {
    const told = play(PARALLEL, 'submit A[x] B[y]\nsubmit C[x]\npass B\nsubmit D[x]\ntesting A A+C A+C+D');
    assert.equal(told.candidate('A+C').parent, told.candidate('A').number);
    assert.equal(told.candidate('A+C+D').parent, undefined);
    const apart = play(PARALLEL, 'submit A[x] B[y] C[x,y]\ntesting A B A+B+C');
    assert.equal(apart.candidate('A+B+C').parent, undefined);
  });
});

describe('what takes the place of another', () => {
  it('goes before new runs of a search where slots are shared [B8] [V3]', () => {
    play(
      { ...PARALLEL, concurrency: 2, bisectionConcurrency: 0, batch: true, batchingMinSize: 2 },
      `
      submit A[x] B[x]
      submit C[y] nobatch
      testing AB C
      pause
      fail AB
      cut C
      states ABC=pending
      resume
      states C=testing
      testing C ~A
      `,
    );
  });

  it('has a slot of the search where it is of one, however full the line is [B8] [V3]', () => {
    play(
      { concurrency: 1, bisectionConcurrency: 1, batch: true, batchingMinSize: 2 },
      'submit A B\nfail AB\nsubmit C nobatch\ntesting C ~A\ncut ~A\ntesting C ~A',
    );
  });

  it('is not taken for a run under way once it has passed and waits for others [B8]', () => {
    play(
      { ...PARALLEL, bisectionConcurrency: 2, batch: true, batchingMinSize: 4 },
      `
      submit A[x] B[x] C[x] D[x]
      submit E[y] F[y] G[y] H[y]
      fail ABCD
      fail EFGH
      testing ~AB ~AB+CD
      pass ~AB+CD
      testing ~AB ~EF
      `,
    );
  });

  it('needs no slot to test the head again [V10] [V3]', () => {
    play(
      { concurrency: 1 },
      'submit A B C\nfail A\nfail B\ntesting C HEAD\ncut HEAD\ntesting C HEAD\nfail C\nstates C=held',
    );
  });
});

describe('urgent entries and those they pass', () => {
  it('interrupts nothing in a paused queue, and then does [O2] [V11]', () => {
    play(
      { concurrency: 1 },
      `
      submit A B
      pause
      submit B urgent
      states A=testing B=pending
      resume
      states A=pending B=testing
      why A=SKIP_THE_LINE_INTERRUPTED
      `,
    );
  });

  it('interrupts nothing that is held because the target is red [O2] [V10]', () => {
    play(
      {},
      'submit A B C\nfail A\nfail B\nfail C\nfail HEAD\nstates C=held\nsubmit D urgent\nstates C=held D=testing\ntesting !D',
    );
  });

  it('goes ahead of what has passed and has not begun to land [O2]', () => {
    play({}, 'submit A\npause\npass A\nsubmit B urgent\nresume\nwhy A=TEST_RUN_STARTED\ntesting B B+A\ntarget M');
  });

  it('does not interrupt what only stands behind another urgent one it overlaps with [O2]', () => {
    play(PARALLEL, 'submit A[x,y] urgent\nsubmit B[y]\nsubmit C[x] urgent\ntesting A A+B A+C\nruns A A+B A+C');
  });

  it('interrupts a batch of which it overlaps with one entry only [O2] [B1]', () => {
    play(
      { ...PARALLEL, batch: true, batchingMinSize: 2 },
      `
      submit A[x] B[x,y]
      testing AB
      submit C[y] urgent
      trail A SKIP_THE_LINE_INTERRUPTED TEST_RUN_STARTED
      states ABC=testing
      `,
    );
  });

  it('takes the slot of one that has a slot [O2]', () => {
    play(
      { ...PARALLEL, concurrency: 3 },
      `
      submit A[x] B[y] C[x]
      pass A+C
      set concurrency=2
      submit D[z] urgent
      states A=testing B=pending C=passed D=testing
      `,
    );
  });
});

describe('entries that are not ready', () => {
  it('leave in their own time, whoever was here before them and is not due yet [O4]', () => {
    play(
      { notReadyTimeoutHours: 1 },
      `
      pause
      submit A
      wait 30m
      submit B unready
      wait 20m
      block A
      wait 40m
      states A=waiting B=cancelled
      wait 20m
      states A=cancelled
      `,
    );
  });
});

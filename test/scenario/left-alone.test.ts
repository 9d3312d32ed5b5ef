import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play } from './scenario.ts';

const PARALLEL = { mode: 'PARALLEL' } as const;
const DIRECT = { ...PARALLEL, directMergeMode: 'ALWAYS' } as const;

describe('direct merges that do not begin', () => {
  it('while the target is red [L8] [V10]', () => {
    play(
      DIRECT,
      'submit A[x] B[x] C[x]\nfail A\nfail B\nfail C\nfail HEAD\nsubmit D[y] uptodate\nstates C=held D=testing\ntesting !D\ntarget M',
    );
  });

  it('while something else is landing, which would overtake them [L8] [L1]', () => {
    play(DIRECT, 'hold landings\nsubmit A[x]\npass A\nsubmit B[y] uptodate\nstates A=passed B=testing');
  });

  it('for a head that contains another head of the target [L8]', () => {
    const told = play(DIRECT, 'submit A[x] uptodate on=OLD\nstates A=testing\nruns A');
    assert.equal(told.queue.candidatesEver, 1);
  });
});

describe('what goes on as it is', () => {
  it('takes over the pass of an equal tree, also while the queue is paused [C10] [V11]', () => {
    play({}, 'empty B\nsubmit A B\nruns A\npause\npass A\nstates AB=passed\nruns A');
  });

  it('what runs on a head that was red, when tests are asked for again [V10] [C12]', () => {
    const told = play(
      {},
      'submit A B C D\nfail A\nfail B\nclose A B\nfail HEAD\nfail C\nstates C=held D=testing\nresume',
    );
    told.play('states CD=testing');
    assert.equal(told.runs.filter((run) => run === 'C+D').length, 1);
    assert.equal(told.runs.filter((run) => run === 'C').length, 2);
  });

  it('what contains an entry whose targets change, and would again [C5]', () => {
    play(PARALLEL, 'submit A[x] B[x]\ntargets A[x,y]\nstates AB=testing\nruns A A+B');
  });

  it('an entry that lands with another, when its removal is asked for [L7] [V8]', () => {
    play(
      { canOptimisticallyMerge: true },
      'hold landings\nsubmit A B\npass A+B\nstates AB=passed\ncancel A\nstates AB=passed\nrelease landings\nstates AB=merged',
    );
  });

  it('an entry that has passed by its own run, when who vouched for it leaves [V8]', () => {
    const told = play(
      { canOptimisticallyMerge: true },
      'submit A B\npause\npass A+B\nstates A=passed\npass A\ncancel B\nstates A=passed',
    );
    const reasons = told.trailOf('A').map(({ because }) => because.reason);
    assert.ok(!reasons.includes('SUCCESSOR_TEST_RUN_WITHDRAWN'));
  });
});

describe('a queue whose sources say nothing', () => {
  it('requires something, or tests nothing [C7]', () => {
    const told = play({}, 'submit A');
    told.sources = { file: undefined, fileProblem: undefined, protection: [], commands: '' };
    told.play('submit B\nstates B=failed\nwhy B=START_TEST_RUN_NO_REQUIRED_STATUSES');
  });
});

describe('when an entry that is not ready is due', () => {
  it('counts from when it stopped being ready [O4]', () => {
    play({ notReadyTimeoutHours: 1 }, 'pause\nsubmit A\nwait 30m\nblock A\nwake 1h');
  });

  it('may be before that of one that came before it [O4]', () => {
    play(
      { notReadyTimeoutHours: 1 },
      'pause\nsubmit A\nwait 30m\nsubmit B unready\nwait 20m\nblock A\nwait 20m\nwake 20m',
    );
  });
});

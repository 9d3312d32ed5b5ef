import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play } from './scenario.ts';

describe('restarting tests', () => {
  it('runs the whole candidate again in its place; what is built on it is not restarted [C12]', () => {
    const told = play(
      {},
      `
      submit A B C
      restart B
      states ABC=testing
      trail B TESTS_RESTARTED_BY_API_REQUEST TEST_RUN_STARTED
      path C waiting pending testing
      testing A A+B A+B+C
      runs A A+B A+B+C A+B
      pass A+B+C
      pass A
      pass B
      states ABC=merged
      target M+A+B+C
      `,
    );
    const actor = told.trailOf('B').find(({ because }) => because.reason === 'TESTS_RESTARTED_BY_API_REQUEST')?.actor;
    assert.equal(actor, 'ada');
  });

  it('keeps in mind what landed beside the candidate that is run again [C12] [C4] [L3]', () => {
    play(
      { mode: 'PARALLEL' },
      'submit A[x] B[y] C[z]\npass A\nrestart B\npass C\nrestart B\npass B\nproof B=COMPOSED+A+C\ntarget M+A+C+B',
    );
  });

  it('clears a held failure and begins anew [C12] [E7]', () => {
    play(
      {},
      'submit A B\nfail A+B\nstates B=held\nrestart B\nstates B=testing\ntesting A A+B\npass A+B\npass A\nstates AB=merged\nruns A A+B A+B',
    );
  });

  it('waits in its place where no slot is free, ahead of everything new [C12] [C3]', () => {
    play(
      { concurrency: 2 },
      `
      submit A B C D
      fail A+B
      testing A
      states C=pending          # behind a failure
      restart B
      testing A A+B
      states CD=pending
      `,
    );
  });

  it('waits for a slot where all are taken, and begins when one is free [C12] [C3]', () => {
    play(
      { concurrency: 2, mode: 'PARALLEL' },
      `
      submit A[x] B[x] C[y]
      fail A+B
      testing A C
      restart B
      candidates A=testing A+B=waiting C=testing
      states B=pending
      pass C
      candidates A=testing A+B=testing
      `,
    );
  });

  it('gives back the tries [C12] [V3]', () => {
    play({}, 'submit A\ncut A\ncut A\nrestart A\ncut A\ncut A\nstates A=testing\ncut A\nstates A=failed');
  });

  it('is refused in every other state [E7]', () => {
    play(
      { concurrency: 1 },
      `
      submit A B
      submit C unready
      restart B
      refused TESTS_NOT_RESTARTABLE
      restart C
      refused TESTS_NOT_RESTARTABLE
      pause
      pass A
      restart A
      refused TESTS_NOT_RESTARTABLE
      restart Z
      refused PULL_REQUEST_NOT_IN_QUEUE
      resume
      restart A
      refused PULL_REQUEST_NOT_IN_QUEUE
      `,
    );
  });
});

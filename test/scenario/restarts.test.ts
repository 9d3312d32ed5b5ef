import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play, story } from '../worlds/engine/story.ts';

describe('restarting tests', () => {
  it('runs the whole candidate again in its place; what is built on it is not restarted [C12]', () => {
    const told = play()`
      submit A B C; restart B → ABC=testing; trail B TESTS_RESTARTED_BY_API_REQUEST TEST_RUN_STARTED
                              → path C waiting pending testing; testing A A+B A+B+C; runs A A+B A+B+C A+B
      pass A+B+C A B          → ABC=merged; target M+A+B+C
    `;
    const restarted = told.trailOf('B').find(({ because }) => because.reason === 'TESTS_RESTARTED_BY_API_REQUEST');
    assert.equal(restarted?.because.actor, 'ada');
  });

  story('keeps in mind what landed beside the candidate that is run again [C12] [C4] [L3]')`
    with mode=PARALLEL
    submit A[x] B[y] C[z]; pass A; restart B; pass C; restart B
    pass B → proof B=COMPOSED+A+C; target M+A+C+B
  `;

  story('clears a held failure and begins anew [C12] [E7]')`
    submit A B; fail A+B → B=held
    restart B            → B=testing; testing A A+B
    pass A+B A           → AB=merged; runs A A+B A+B
  `;

  story('waits in its place where no slot is free, ahead of everything new [C12] [C3]')`
    with concurrency=2
    submit A B C D; fail A+B → testing A; C=pending  # behind a failure
    restart B                → testing A A+B; CD=pending
  `;

  story('waits for a slot where all are taken, and begins when one is free [C12] [C3]')`
    with concurrency=2 mode=PARALLEL
    submit A[x] B[x] C[y]; fail A+B → testing A C
    restart B                       → candidates A=testing A+B=waiting C=testing; B=pending
    pass C                          → candidates A=testing A+B=testing
  `;

  story('gives back the tries [C12] [V3]')`
    submit A; cut A A; restart A; cut A A → A=testing
    cut A                                 → A=failed
  `;

  story('is refused in every other state [E7]')`
    with concurrency=1
    submit A B; submit C unready; restart B → refused TESTS_NOT_RESTARTABLE
    restart C                               → refused TESTS_NOT_RESTARTABLE
    pause; pass A; restart A                → refused TESTS_NOT_RESTARTABLE
    restart Z                               → refused PULL_REQUEST_NOT_IN_QUEUE
    resume; restart A                       → refused PULL_REQUEST_NOT_IN_QUEUE
  `;
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play, story } from '../worlds/engine/story.ts';

const PARALLEL = { mode: 'PARALLEL' } as const;
const DIRECT = { ...PARALLEL, directMergeMode: 'ALWAYS' } as const;

describe('direct merges that do not begin', () => {
  story('while the target is red [L8] [V10]', DIRECT)`
    submit A[x] B[x] C[x]; fail A B C HEAD; submit D[y] uptodate → C=held D=testing; testing !D; target M
  `;

  story('while something else is landing, which would overtake them [L8] [L1]', DIRECT)`
    hold landings; submit A[x]; pass A; submit B[y] uptodate → A=passed B=testing
  `;

  it('for a head that contains another head of the target [L8]', () => {
    const told = play(DIRECT)`submit A[x] uptodate on=OLD → A=testing; runs A`;
    assert.equal(told.queue.candidatesEver, 1);
  });
});

describe('candidates that go on as they are', () => {
  story('takes over the pass of an equal tree, also while the queue is paused [C10] [V11]')`
    empty B; submit A B → runs A
    pause; pass A       → AB=passed; runs A
  `;

  it('a run on a head that was red, when tests are asked for again [V38] [C12]', () => {
    const told = play()`
      submit A B C D; fail A B; close A B; fail HEAD C → C=held D=testing
      resume → CD=testing
    `;
    assert.equal(told.runs.filter((run) => run === 'C+D').length, 1);
    assert.equal(told.runs.filter((run) => run === 'C').length, 2);
  });

  story('a candidate that contains an entry whose targets change, and would again [C24]', PARALLEL)`
    submit A[x] B[x]; targets A[x,y] → AB=testing; runs A A+B
  `;

  story('an entry that lands with another, when its removal is asked for [L24] [V8]')`
    with canOptimisticallyMerge=true
    hold landings; submit A B; pass A+B → AB=passed
    cancel A                            → AB=passed
    release landings                    → AB=merged
  `;

  it('an entry that has passed by its own run, when who vouched for it leaves [V31]', () => {
    const told = play()`
      with canOptimisticallyMerge=true
      submit A B; pause; pass A+B → A=passed
      pass A; cancel B            → A=passed
    `;
    const reasons = told.trailOf('A').map(({ because }) => because.reason);
    assert.ok(!reasons.includes('SUCCESSOR_TEST_RUN_WITHDRAWN'));
  });
});

describe('a queue whose sources say nothing', () => {
  it('requires something, or tests nothing [C30]', () => {
    const told = play()`submit A`;
    told.sources = { file: undefined, fileProblem: undefined, protection: [], commands: '' };
    told.play('submit B → B=failed; why B=START_TEST_RUN_NO_REQUIRED_STATUSES');
  });
});

describe('when an entry that is not ready is due', () => {
  story('counts from when it stopped being ready [O4]')`
    with notReadyTimeoutHours=1
    pause; submit A; wait 30m; block A → wake 1h
  `;

  story('may be before that of one that came before it [O4]')`
    with notReadyTimeoutHours=1
    pause; submit A; wait 30m; submit B unready; wait 20m; block A
    wait 20m → wake 20m
  `;
});

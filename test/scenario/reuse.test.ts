import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play } from './scenario.ts';

const BATCH = { batch: true, batchingMinSize: 2, batchingMaxWaitTimeMinutes: 0 } as const;
const TOGETHER = (names: string) => `pause\nsubmit ${names}\nresume\n`;
/** A bisection in which A and A+B pass by their own runs on M. */
const BOTH_PASS = `${TOGETHER('A B')}\nfail AB\npause\npass ~A\npass ~A+B\nstates AB=pending\n`;

describe('a tree that passed is not tested again', () => {
  it('lands survivors of a search without a second run when nothing moved, naming the run [C10] [B5]', () => {
    const told = play(BATCH, `${BOTH_PASS}\nresume\nstates AB=merged\ntarget M+A+B\nruns AB ~A ~A+B`);
    const proof = [...told.endedCandidates.values()].findLast(({ purpose }) => purpose.kind === 'main');
    assert.deepEqual([proof?.pass?.by, proof?.pass?.provenBy], ['reused_run', 3]);
    assert.equal(told.trailOf('A').at(-2)?.because.candidate, 3);
  });

  it('takes over a pass on an ancestor of its base [C10]', () => {
    // A+B passed on M. After A has landed alone, M+A with B is the same tree on a later head.
    play(
      {},
      `
      submit A B C
      pass A+B
      pass A
      states AB=merged C=testing
      runs A A+B A+B+C
      `,
    );
    play(
      BATCH,
      `
      ${TOGETHER('A B')}
      fail AB
      pass ~A
      states A=merged
      pass ~A+B
      states B=merged          # built on M+A: the tree that passed as M+A+B
      target M+A+B
      proof B=SAME_TREE
      runs AB ~A ~A+B
      `,
    );
  });

  it('tests again where the target has something else in it [C10]', () => {
    play(BATCH, `${BOTH_PASS}\nforeign X\nresume\ntesting AB\nruns AB ~A ~A+B AB`);
  });

  it('tests again where other checks are required [C10] [C7]', () => {
    play(BATCH, `${BOTH_PASS}\nsources protection=ci,lint\nresume\ntesting AB\nruns AB ~A ~A+B AB`);
    play(BATCH, `${BOTH_PASS}\nset requiredStatuses=["lint"]\nresume\ntesting AB\nruns AB ~A ~A+B AB`);
  });

  it('tests again where fewer checks are required [C10] [C7]', () => {
    play(
      BATCH,
      `
      sources protection=ci,lint
      ${TOGETHER('A B')}
      fail AB
      pause
      pass ~A
      pass ~A by=lint
      pass ~A+B
      pass ~A+B by=lint
      sources protection=ci
      resume
      testing AB
      runs AB ~A ~A+B AB
      `,
    );
  });

  it('does not care where the same checks are required from, or in which order [C10]', () => {
    play(
      BATCH,
      `
      sources protection=ci,lint
      ${TOGETHER('A B')}
      fail AB
      pause
      pass ~A
      pass ~A by=lint
      pass ~A+B
      pass ~A+B by=lint
      set requiredStatuses=["lint","ci"]
      resume
      states AB=merged
      runs AB ~A ~A+B
      `,
    );
  });

  it('tests again where only one app may report the check from now on [C10] [G65]', () => {
    const changed = 'set requiredStatuses=[{"name":"ci","app":"actions"}]';
    play(BATCH, `${BOTH_PASS}\n${changed}\nresume\ntesting AB\nruns AB ~A ~A+B AB`);
  });

  it('tests again where the commands of the runner changed [C10]', () => {
    play(BATCH, `${BOTH_PASS}\nsources protection=ci commands=v2\nresume\ntesting AB\nruns AB ~A ~A+B AB`);
  });

  it('tests again after somebody forced the branch elsewhere, though the tree is the same [C10]', () => {
    play(BATCH, `${BOTH_PASS}\nforeign X\nrewind M\nresume\ntesting AB\nruns AB ~A ~A+B AB`);
  });

  it('tests again what landed once and was taken off the branch by force [C10]', () => {
    const told = play({}, 'submit A\npass A\ntarget M+A');
    assert.equal(told.queue.passes.size, 1);
    told.play('rewind M\nsubmit A\ntesting A\nruns A A');
  });

  it('tests again where the pass was found on a head that its base does not contain [C10]', () => {
    // X and E change nothing. X passes on the pushed head with the tree of the base. The bisection keeps its base.
    play(
      { ...BATCH, mode: 'PARALLEL', bisectionConcurrency: 1 },
      `
      empty B E X
      pause
      submit A[x] B[x]
      resume
      fail AB
      foreign E
      submit X[z]
      pass X
      states X=merged
      testing ~A
      cancel A
      testing ~B
      runs AB ~A X ~B
      `,
    );
  });

  it('tests again where trees that passed are not to be reused [C10]', () => {
    play({ ...BATCH, reusePassedTrees: false }, `${BOTH_PASS}\nresume\ntesting AB\nruns AB ~A ~A+B AB`);
  });

  it('does not reuse a pass by a vouch [C10] [V8]', () => {
    play(
      { canOptimisticallyMerge: true },
      `
      submit A B C
      pause
      pass A+B+C
      states ABC=passed
      cancel C
      states AB=testing
      cancel A
      resume
      testing B
      runs A A+B A+B+C B
      `,
    );
  });

  it('does not reuse a pass where nothing had been required [C10] [C7]', () => {
    play(
      {},
      `
      set requiredStatuses=[]
      submit A
      states A=merged
      rewind M
      set requiredStatuses=["ci"]
      submit A
      testing A
      runs A
      `,
    );
  });

  it('does not reuse a pass of another head of the pull request [C10]', () => {
    play({}, 'submit A B\npause\npass A+B\npush A\nsubmit A\nresume\ntesting B B+A\nruns A A+B B B+A');
  });

  it('never reuses a failure outside a search [C10] [B7]', () => {
    play({}, 'submit A\nfail A\nstates A=failed\nsubmit A\ntesting A\nruns A A');
  });
});

describe('an equal tree that is under test is waited for', () => {
  const PARALLEL = { mode: 'PARALLEL' } as const;
  /** Three pull requests that change nothing, in separate lanes. The first is tested, the others wait for it. */
  const THREE = 'empty A B C\nsubmit A[x] B[y] C[z]\nstates ABC=testing\nruns A\n';

  it('shows no second run to CI, and passes what waited when the run passes [C10]', () => {
    const told = play(
      {},
      `
      empty B
      submit A B
      states AB=testing
      runs A
      pass A
      states AB=merged
      trail B TEST_RUN_STARTED TEST_RUN_PASSED MERGE_GRAPH_MERGE
      target M+A+B
      runs A
      `,
    );
    assert.deepEqual(told.endedCandidates.get(2)?.pass, {
      at: told.now,
      by: 'reused_run',
      provenBy: 1,
      provenSha: 'c1',
    });
  });

  it('takes over nothing but a pass: after a failure one of those that waited runs itself [C10]', () => {
    play(
      PARALLEL,
      `
      ${THREE}
      fail A
      states A=failed BC=testing
      runs A B
      pass B
      states BC=merged
      runs A B
      `,
    );
  });

  for (const act of ['cancel A', 'restart A', 'lose A', 'interrupt A', 'push A']) {
    it(`gives one of those that waited a run of its own after "${act}" [C10]`, () => {
      play(
        PARALLEL,
        `
        ${THREE}
        ${act}
        states BC=testing
        runs A B
        pass B
        states BC=merged
        runs A B
        `,
      );
    });
  }

  it('gives it a run of its own when the one it waited for landed by a vouch [C10] [V8]', () => {
    play(
      { ...PARALLEL, canOptimisticallyMerge: true },
      `
      empty A D
      submit A[x] B[x] D[y]
      runs A A+B
      pass A+B
      states AB=merged D=testing
      runs A A+B D
      `,
    );
  });

  it('decides one that waits for another’s run by that run, whatever is reported for it meanwhile [C10]', () => {
    play(
      PARALLEL,
      `${THREE}
fail B
states B=testing
pass B
ignored
states B=testing
pass A
states ABC=merged`,
    );
  });

  it('takes nothing over from a pass that was itself taken over [C10]', () => {
    play(
      PARALLEL,
      `
      hold landings
      empty A B
      submit A[x] B[y]
      runs A
      pass A
      states AB=passed
      refuse composition
      states A=testing B=passed
      runs A B+A
      `,
    );
  });

  it('counts what was reported for it before, when a run of its own begins [C10] [V2]', () => {
    play(
      PARALLEL,
      `${THREE}
pass B
states B=testing
fail A
states A=failed BC=merged`,
    );
  });

  it('counts what was reported while the queue was paused, when the run begins [V2]', () => {
    play(
      { mode: 'SINGLE' },
      'hold builds\nsubmit A\npass A\npause\nrelease builds\nstates A=testing\nresume\nstates A=merged',
    );
  });

  it('counts the time of a test from its own run on [C10] [V1]', () => {
    play(
      { ...PARALLEL, testingTimeoutMinutes: 30 },
      `
      ${THREE}
      wait 20m
      cancel A
      runs A B
      wait 20m
      states BC=testing
      wait 10m
      states B=failed C=testing
      why B=TEST_RUN_TIMEOUT
      runs A B C
      `,
    );
  });

  it('does not wait for a run with other checks, or where trees are not reused [C10]', () => {
    play(PARALLEL, 'empty A B\nsubmit A[x]\nsources protection=other\nsubmit B[y]\nruns A B');
    play({ ...PARALLEL, reusePassedTrees: false }, 'empty A B\nsubmit A[x] B[y]\nruns A B');
  });

  it('takes over a pass that is there already, though its candidate has not landed [C10]', () => {
    play(PARALLEL, 'empty A B\nsubmit A[x]\npause\npass A\nsubmit B[y]\nresume\nstates AB=merged\nruns A');
  });

  it('does not take over what was taken over, but the run itself [C10]', () => {
    const told = play(
      PARALLEL,
      'empty A B C\nsubmit A[x]\npass A\nsubmit B[y]\nsubmit C[z]\nstates ABC=merged\nruns A',
    );
    assert.equal(told.endedCandidates.get(3)?.pass?.provenBy, 1);
  });
});

describe('no commit and no number serves twice', () => {
  it('gives a new number to whatever is tried again, and ignores results for the old one [C11]', () => {
    const told = play({}, 'submit A B');
    const [first] = told.candidates();
    told.play('restart A\ntesting A A+B');
    const [second] = told.candidates();
    assert.ok(first !== undefined && second !== undefined && second.number > first.number);
    told.reportCheck(first.number, { conclusion: 'FAILURE' });
    told.play('ignored\nstates A=testing');
    told.reportCheck(first.number, { conclusion: 'SUCCESS' });
    told.play('ignored\nstates AB=testing\ntarget M\npass A\nstates A=merged');
  });

  it('ignores every late result of a candidate that was abandoned [C11] [I4]', () => {
    const told = play({}, 'submit A B\ncancel A\ntesting B');
    for (const number of [1, 2] as const) {
      told.reportCheck(number as never, { conclusion: 'FAILURE' });
      told.play('ignored\nstates B=testing');
    }
    told.play('pass B\ntarget M+B');
    const numbers = told.steps.flatMap(({ effects }) => effects.flatMap((e) => ('candidate' in e ? e.candidate : [])));
    assert.equal(Math.max(...numbers), 3);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play, story } from '../worlds/engine/story.ts';

const BATCH = { batch: true, batchingMinSize: 2, batchingMaxWaitTimeMinutes: 0 } as const;
/** A bisection in which A and A+B pass by their own runs on M. */
const BOTH_PASS = 'together A B; fail AB; pause; pass ~A ~A+B → AB=pending';

describe('a tree that passed is not tested again', () => {
  it('lands survivors of a search without a second run when nothing moved, naming the run [C10] [B5]', () => {
    const told = play(BATCH)`
      ${BOTH_PASS}
      resume → AB=merged; target M+A+B; runs AB ~A ~A+B
    `;
    const proof = [...told.endedCandidates.values()].findLast(({ purpose }) => purpose.kind === 'main');
    assert.deepEqual([proof?.pass?.by, proof?.pass?.provenBy], ['reused_run', 3]);
    assert.equal(told.trailOf('A').at(-2)?.because.candidate, 3);
  });

  it('takes over a pass on an ancestor of its base [C10]', () => {
    // A+B passed on M. After A has landed alone, M+A with B is the same tree on a later head.
    play()`submit A B C; pass A+B A → AB=merged C=testing; runs A A+B A+B+C`;
    play(BATCH)`
      together A B; fail AB; pass ~A → A=merged
      pass ~A+B                      → B=merged  # built on M+A: the tree that passed as M+A+B
                                     → target M+A+B; proof B=SAME_TREE; runs AB ~A ~A+B
    `;
  });

  story('tests again where the target has something else in it [C10]', BATCH)`
    ${BOTH_PASS}
    foreign X; resume → testing AB; runs AB ~A ~A+B AB
  `;

  it('tests again where other checks are required [C10] [C7]', () => {
    play(BATCH)`
      ${BOTH_PASS}
      sources protection=ci,lint; resume → testing AB; runs AB ~A ~A+B AB
    `;
    play(BATCH)`
      ${BOTH_PASS}
      set requiredStatuses=["lint"]; resume → testing AB; runs AB ~A ~A+B AB
    `;
  });

  story('tests again where fewer checks are required [C10] [C7]', BATCH)`
    sources protection=ci,lint; together A B; fail AB; pause
    pass ~A; pass ~A by=lint; pass ~A+B; pass ~A+B by=lint
    sources protection=ci; resume → testing AB; runs AB ~A ~A+B AB
  `;

  story('does not care where the same checks are required from, or in which order [C10]', BATCH)`
    sources protection=ci,lint; together A B; fail AB; pause
    pass ~A; pass ~A by=lint; pass ~A+B; pass ~A+B by=lint
    set requiredStatuses=["lint","ci"]; resume → AB=merged; runs AB ~A ~A+B
  `;

  it('tests again where only one app may report the check from now on [C10] [G125]', () => {
    const changed = 'set requiredStatuses=[{"name":"ci","app":"actions"}]';
    play(BATCH)`
      ${BOTH_PASS}
      ${changed}
      resume → testing AB; runs AB ~A ~A+B AB
    `;
  });

  story('tests again where the commands of the runner changed [C10]', BATCH)`
    ${BOTH_PASS}
    sources protection=ci commands=v2; resume → testing AB; runs AB ~A ~A+B AB
  `;

  story('tests again after somebody forced the branch elsewhere, though the tree is the same [C10]', BATCH)`
    ${BOTH_PASS}
    foreign X; rewind M; resume → testing AB; runs AB ~A ~A+B AB
  `;

  it('tests again what landed once and was taken off the branch by force [C10]', () => {
    const told = play()`submit A; pass A → target M+A`;
    assert.equal(told.queue.passes.size, 1);
    told.play('rewind M; submit A → testing A; runs A A');
  });

  story('tests again where the pass was found on a head that its base does not contain [C10]', BATCH)`
    with mode=PARALLEL bisectionConcurrency=1
    empty B E X; together A[x] B[x]; fail AB; foreign E; submit X[z]
    pass X   → X=merged; testing ~A
    cancel A → testing ~B; runs AB ~A X ~B
  `;

  story('tests again where trees that passed are not to be reused [C10]', BATCH)`
    with reusePassedTrees=false
    ${BOTH_PASS}
    resume → testing AB; runs AB ~A ~A+B AB
  `;

  story('does not reuse a pass by a vouch [C10] [V8]')`
    with canOptimisticallyMerge=true
    submit A B C; pause; pass A+B+C → ABC=passed
    cancel C                        → AB=testing
    cancel A; resume                → testing B; runs A A+B A+B+C B
  `;

  story('does not reuse a pass where nothing had been required [C10] [C7]')`
    set requiredStatuses=[]; submit A → A=merged
    rewind M; set requiredStatuses=["ci"]; submit A → testing A; runs A
  `;

  story('does not reuse a pass of another head of the pull request [C10]')`
    submit A B; pause; pass A+B; push A; submit A; resume → testing B B+A; runs A A+B B B+A
  `;

  story('never reuses a failure outside a search [C10] [B7]')`
    submit A; fail A → A=failed
    submit A         → testing A; runs A A
  `;
});

describe('an equal tree that is under test is waited for', () => {
  const PARALLEL = { mode: 'PARALLEL' } as const;
  /** Three pull requests that change nothing, in separate lanes. The first is tested, the others wait for it. */
  story('a repetition takes the pass of another candidate with its tree [C10] [C30]')`
    with honorQuarantine=ON
    hold landings; empty B; submit A B; fail A; repeat A → runs A A+B A
    fail A+B; pass A                                     → A=passed
    repeat A+B                                           → AB=passed; runs A A+B A
  `;

  const THREE = 'empty A B C; submit A[x] B[y] C[z] → ABC=testing; runs A';

  it('shows no second run to CI, and passes what waited when the run passes [C35]', () => {
    const told = play()`
      empty B; submit A B → AB=testing; runs A
      pass A              → AB=merged; trail B TEST_RUN_STARTED TEST_RUN_PASSED MERGE_GRAPH_MERGE; target M+A+B
                          → runs A
    `;
    assert.deepEqual(told.endedCandidates.get(2)?.pass, {
      at: told.now,
      by: 'reused_run',
      provenBy: 1,
      provenSha: 'c1',
    });
  });

  story('takes over nothing but a pass: after a failure one of those that waited runs itself [C35]', PARALLEL)`
    ${THREE}
    fail A → A=failed BC=testing; runs A B
    pass B → BC=merged; runs A B
  `;

  for (const act of ['cancel A', 'restart A', 'lose A', 'interrupt A', 'push A']) {
    story(`gives one of those that waited a run of its own after "${act}" [C35]`, PARALLEL)`
      ${THREE}
      ${act}
             → BC=testing; runs A B
      pass B → BC=merged; runs A B
    `;
  }

  story('gives it a run of its own when the one it waited for landed by a vouch [C35] [V8]', PARALLEL)`
    with canOptimisticallyMerge=true
    empty A D; submit A[x] B[x] D[y] → runs A A+B
    pass A+B                         → AB=merged D=testing; runs A A+B D
  `;

  story('decides one that waits for another’s run by that run, whatever is reported for it meanwhile [C35]', PARALLEL)`
    ${THREE}
    fail B → B=testing
    pass B → ignored; B=testing
    pass A → ABC=merged
  `;

  story('takes nothing over from a pass that was itself taken over [C10]', PARALLEL)`
    hold landings; empty A B; submit A[x] B[y] → runs A
    pass A             → AB=passed
    refuse composition → A=testing B=passed; runs A B+A
  `;

  story('counts what was reported for it before, when a run of its own begins [C32] [V2]', PARALLEL)`
    ${THREE}
    pass B → B=testing
    fail A → A=failed BC=merged
  `;

  story('counts what was reported while the queue was paused, when the run begins [V2]')`
    with mode=SINGLE
    hold builds; submit A; pass A; pause; release builds → A=testing
    resume → A=merged
  `;

  story('counts the time of a test from its own run on [C10] [V23]', PARALLEL)`
    with testingTimeoutMinutes=30
    ${THREE}
    wait 20m; cancel A → runs A B
    wait 20m           → BC=testing
    wait 10m           → B=failed C=testing; why B=TEST_RUN_TIMEOUT; runs A B C
  `;

  it('does not wait for a run with other checks, or where trees are not reused [C35]', () => {
    play(PARALLEL)`empty A B; submit A[x]; sources protection=other; submit B[y] → runs A B`;
    play(PARALLEL)`with reusePassedTrees=false; empty A B; submit A[x] B[y] → runs A B`;
  });

  story('takes over a pass that is there already, though its candidate has not landed [C10]', PARALLEL)`
    empty A B; submit A[x]; pause; pass A; submit B[y]; resume → AB=merged; runs A
  `;

  it('does not take over what was taken over, but the run itself [C10]', () => {
    const told = play(PARALLEL)`empty A B C; submit A[x]; pass A; submit B[y] C[z] → ABC=merged; runs A`;
    assert.equal(told.endedCandidates.get(3)?.pass?.provenBy, 1);
  });
});

describe('no commit and no number serves twice', () => {
  it('gives a new number to whatever is tried again, and ignores results for the old one [C11]', () => {
    const told = play()`submit A B`;
    const [first] = told.candidates();
    told.play('restart A → testing A A+B');
    const [second] = told.candidates();
    assert.ok(first !== undefined && second !== undefined && second.number > first.number);
    told.reportCheck(first.number, { conclusion: 'FAILURE' });
    told.play('→ ignored; A=testing');
    told.reportCheck(first.number, { conclusion: 'SUCCESS' });
    told.play(`
             → ignored; AB=testing; target M
      pass A → A=merged
    `);
  });

  it('ignores every late result of a candidate that was abandoned [C11] [I4]', () => {
    const told = play()`submit A B; cancel A → testing B`;
    for (const number of [1, 2] as const) {
      told.reportCheck(number as never, { conclusion: 'FAILURE' });
      told.play('→ ignored; B=testing');
    }
    told.play('pass B → target M+B');
    const numbers = told.steps.flatMap(({ effects }) => effects.flatMap((e) => ('candidate' in e ? e.candidate : [])));
    assert.equal(Math.max(...numbers), 3);
  });
});

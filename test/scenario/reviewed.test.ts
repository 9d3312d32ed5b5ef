import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explain } from '../../src/engine/explain.ts';
import type { ExplanationReason } from '../../src/engine/explanation.ts';
import { findEntry } from '../../src/engine/queue.ts';
import { step } from '../../src/engine/step.ts';
import { play, Scenario } from './scenario.ts';
import { numberOf } from './words.ts';

/** Regressions: every case here failed once. */
function sizeOf(reasons: readonly ExplanationReason[]): number {
  return reasons.reduce((sum, reason) => sum + 1 + sizeOf(reason.reasons), 0);
}

function reasonsOf(told: Scenario, name: string): string[] {
  const entry = findEntry(told.queue, numberOf(name));
  return entry === undefined ? [] : explain(told.queue, entry, told.now).reasons.map(({ code }) => code);
}

describe('what went wrong once', () => {
  it('an explanation stays short however long the line is [E12]', () => {
    const told = new Scenario({ concurrency: 100 });
    for (let number = 1; number <= 60; number += 1) told.submit(number as never);
    for (const candidate of told.candidates().slice(1)) told.reportCheck(candidate.number, {});
    const { reasons } = explain(told.queue, findEntry(told.queue, 60 as never) as never, told.now);
    assert.ok(sizeOf(reasons) < 50, `${sizeOf(reasons)} reasons`);
    assert.deepEqual(reasons.at(-1)?.text, 'It waits for 56 more pull requests ahead of it.');
  });

  it('nobody in a search is removed for a failure of a target that is red by itself [V10] [B6]', () => {
    const told = play(
      { batch: true, batchingMinSize: 4 },
      `
      submit A B C D
      fail ABCD
      fail ~AB
      fail ~A
      states A=failed
      fail ~BCD
      fail ~BC
      fail ~B
      states AB=failed
      `,
    );
    told.play('fail ~CD\nfail ~C\nfail HEAD\nstates CD=pending\nwhy C=TARGET_BRANCH_RED D=TARGET_BRANCH_RED');
    told.play('states AB=pending\nforeign Fix\ntesting ABCD\npass ABCD\nstates ABCD=merged');
  });

  it('un-parking asks again for what was under way [I2]', () => {
    const told = play({}, 'hold landings\nsubmit A B\npass A');
    const parked = { ...told.queue, parked: { reason: 'a promise', since: told.now } };
    const event = { kind: 'queue_updated', at: told.now, actor: 'ada', settings: {}, state: 'RUNNING' } as const;
    const { queue, effects } = step(parked, event);
    assert.equal(queue.parked, undefined);
    assert.deepEqual(
      effects.map(({ kind }) => kind),
      ['land_candidate', 'start_checks'],
    );
  });

  it('a queue that was parked while it switched its mode can be un-parked [I2] [Q5]', () => {
    const told = play({}, 'submit A\nset mode=PARALLEL\nqueue SWITCHING_MODES');
    told.queue = { ...told.queue, parked: { reason: 'a promise', since: told.now } };
    told.update({}, 'RUNNING');
    assert.equal(told.queue.parked, undefined);
    told.play('queue SWITCHING_MODES\npass A\nqueue RUNNING');
  });

  it('waiting for the queue does not count as not being ready, also when something comes up later [O4]', () => {
    const told = play({ notReadyTimeoutHours: 1 }, 'pause\nsubmit A\nwait 2h\nblock A\nstates A=waiting');
    told.play('wait 59m\nstates A=waiting\nwait 1m\nstates A=cancelled');
  });

  it('a full group does not wait for half-full ones ahead of it [B1]', () => {
    const told = new Scenario({ mode: 'PARALLEL', batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 600 });
    told.play('submit A[x] B[x] C[y] D[y] E[x,y] F[x,y] G[x,y]\nstates ABCDEFG=pending');
    told.play('submit H[x,y]\nstates ABCDEFGH=testing\ntesting AB CD AB+CD+EFGH');
  });

  it('says that it stands too far behind, or behind a direct merge [E12] [C3] [L8]', () => {
    const far = play({ concurrency: 2 }, 'submit A B C D\npass A+B\npass A+B+C\nstates D=pending');
    assert.deepEqual(reasonsOf(far, 'D'), ['TOO_FAR_BEHIND']);
    const direct = play({ directMergeMode: 'ALWAYS' }, 'hold builds\nsubmit A uptodate\nsubmit B');
    assert.deepEqual(reasonsOf(direct, 'B'), ['BEHIND_DIRECT_MERGE']);
  });

  it('does not speak of a suspected target where an entry is held for another [E12] [V6]', () => {
    const told = new Scenario({ mode: 'PARALLEL', pendingFailureDepth: 1 });
    told.play('submit A[x]\nfail A\nsubmit B[y] C[y]\nfail B\nstates B=held');
    assert.deepEqual(reasonsOf(told, 'B'), ['FAILED_CHECKS', 'HELD']);
  });

  it('a required check is kept however many others were reported before [V1] [I4]', () => {
    const told = play({}, 'submit A');
    const { number } = told.candidate('A');
    for (let index = 0; index < 1_001; index += 1) told.reportCheck(number, { name: `other ${index}` });
    told.play('pass A\nstates A=merged');
  });

  it('a clock that goes back makes nobody wait for it to come round again [B1] [I4]', () => {
    const told = play({ batch: true, batchingMaxWaitTimeMinutes: 5 }, 'submit A\nstates A=pending');
    told.now -= 24 * 3_600_000;
    told.play('submit B unready\nstates A=testing');
  });

  it('starts what waits when its targets free it from what it stood behind [C1] [C5]', () => {
    const told = play({ mode: 'PARALLEL', concurrency: 3 }, 'submit A[x] B[x] C[x]\nfail A+B\nsubmit D[x]');
    told.play('states D=pending\ntargets D[y]\nstates D=testing\ntesting A A+B+C D');
  });

  it('does not search for ever for what fails only together [B7]', () => {
    const isGreen = (tree: string) => !(tree.includes('A') && tree.includes('C'));
    const told = play(
      { batch: true, batchingMinSize: 4, optimizationMode: 'BISECTION_SKIP_REDUNDANT_TESTS' },
      'submit A B C D',
    );
    for (let round = 0; round < 40; round += 1) {
      const open = told.candidates().find(({ state, sameTreeAs }) => state === 'testing' && sameTreeAs === undefined);
      if (open === undefined) break;
      told.reportCheck(open.number, { conclusion: isGreen(told.treeOf(open)) ? 'SUCCESS' : 'FAILURE' });
      if (round === 4) told.play('foreign X');
    }
    told.play('states ABD=merged C=failed');
    assert.ok(told.queue.bisectionsEver <= 2, `${told.queue.bisectionsEver} searches`);
  });

  it('a landing beside it removes nobody who failed on a head that is suspected, or red [V10]', () => {
    for (const verdict of ['', '\nfail HEAD']) {
      const told = new Scenario({ mode: 'PARALLEL', concurrency: 6 });
      told.play(`submit A[x] B[y] C[z] E[v] D[w]\nfail A\nfail B\nclose A B\nfail C${verdict}\nfail E\nstates CE=held`);
      told.play('pass D\nstates D=merged CE=testing\nwhy C=TEST_RUN_STARTED');
      told.play('testing C E\npass C E');
      told.play('states CE=merged');
    }
  });

  it('a direct merge lands nothing that is not ready any more, or not wanted [L8] [E2]', () => {
    for (const act of ['block A', 'retarget A', 'drain', 'set directMergeMode=OFF']) {
      const told = play({ directMergeMode: 'ALWAYS' }, `hold builds\nsubmit A uptodate\n${act}\nrelease builds`);
      assert.notEqual(told.stateOf('A'), 'MERGED', act);
    }
  });

  it('a landing that has not begun is called off by whatever happens [L7] [L5] [E6]', () => {
    // No worker begins the landings: they are requested and have not begun.
    const begin = 'hold landers\nsubmit A B\npass A\n';
    for (const act of ['pause', 'cancel A', 'push A', 'close A', 'foreign X', 'submit C urgent']) {
      const told = play({}, `${begin}${act}`);
      assert.equal(told.queue.landing, undefined, act);
      assert.equal(told.stateOf('A') === 'TESTS_PASSED', act === 'pause', act);
    }
    const told = play({}, `${begin}pause\ncancel A\nstates A=cancelled`);
    assert.equal(
      told.last?.transitions.some(({ to }) => to === 'MERGED'),
      false,
    );
  });

  it('a landing that is paused before it began is asked for again when the queue goes on [L5]', () => {
    const told = play({}, 'hold landers\nsubmit A\npass A\npause\nstates A=passed\nrelease landers\nresume');
    told.play('states A=merged');
    assert.equal(
      told.steps.flatMap(({ effects }) => effects).filter(({ kind }) => kind === 'land_candidate').length,
      2,
    );
  });

  it('a queue that drains, or switches its mode, does not wait for batches [B1] [Q4]', () => {
    play({ batch: true }, 'submit A\ndrain\nstates A=testing');
    play(
      { batch: true },
      'submit A\nset mode=PARALLEL\nqueue SWITCHING_MODES\nstates A=testing\npass A\nqueue RUNNING',
    );
  });

  it('a commit that is built while the queue is paused is shown to CI when it goes on [L5] [I2]', () => {
    play(
      {},
      'hold builds\nsubmit A\npause\nrelease builds\nruns\nstates A=testing\nresume\nruns A\npass A\nstates A=merged',
    );
  });

  it('names only what failed, not what was cut off beside it [V3] [E11]', () => {
    const told = play({ requiredStatuses: ['a', 'b'] }, 'submit A\ncut A by=b\nfail A by=a\nstates A=failed');
    assert.deepEqual(told.lastOf('A')?.because.checks, ['a']);
  });

  it('starts what waits when a search that shared its slots gives one back [B8] [C3]', () => {
    const told = play(
      { batch: true, batchingMinSize: 2, concurrency: 1, bisectionConcurrency: 0 },
      'submit A B\nfail AB\ntesting ~A\nset batch=false\nsubmit C\nstates C=pending',
    );
    told.play('fail ~A\npass ~B\nstates B=merged C=testing');
  });
});

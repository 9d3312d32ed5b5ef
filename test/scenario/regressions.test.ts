import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findEntry } from '../../src/engine/model/queue.ts';
import { step } from '../../src/engine/step.ts';
import { explain } from '../../src/words/explain.ts';
import type { ExplanationReason } from '../../src/words/explanation.ts';
import { changeText } from '../../src/words/reasons.ts';
import { pluck } from '../helpers/pluck.ts';
import { Scenario } from '../worlds/engine/scenario.ts';
import { play, story } from '../worlds/engine/story.ts';
import { numberOf } from '../worlds/engine/words.ts';

/** Regressions: every case here failed once. */
function sizeOf(reasons: readonly ExplanationReason[]): number {
  return reasons.reduce((sum, reason) => sum + 1 + sizeOf(reason.reasons), 0);
}

function reasonsOf(told: Scenario, name: string): string[] {
  const entry = findEntry(told.queue, numberOf(name));
  return entry === undefined ? [] : explain(told.queue, entry, told.now).reasons.map(({ code }) => code);
}

const PARALLEL = { mode: 'PARALLEL' } as const;

describe('regressions', () => {
  it('an explanation stays short however long the line is [E12]', () => {
    const told = new Scenario({ concurrency: 100 });
    for (let number = 1; number <= 60; number += 1) told.submit(number as never);
    for (const candidate of told.candidates().slice(1)) told.reportCheck(candidate.number, {});
    const { reasons } = explain(told.queue, findEntry(told.queue, 60 as never) as never, told.now);
    assert.ok(sizeOf(reasons) < 50, `${sizeOf(reasons)} reasons`);
    assert.deepEqual(reasons.at(-1)?.text, 'Blocked by 56 more pull requests ahead of it.');
  });

  story('a search removes no entry for a failure of a target that is red by itself [V16] [B6]')`
    with batch=true batchingMinSize=4
    submit A B C D; fail ABCD ~AB ~A → A=failed
    fail ~BCD ~BC ~B                 → AB=failed
    fail ~CD ~C HEAD                 → CD=pending; why C=TARGET_BRANCH_RED D=TARGET_BRANCH_RED; AB=pending
    foreign Fix                      → testing ABCD
    pass ABCD                        → ABCD=merged
  `;

  it('a pull request is not said to have failed where a run with it did [E11]', () => {
    const told = play({ batch: true, batchingMinSize: 2, concurrency: 3 })`
      submit A B C D; fail AB
      pass ~A; fail ~A+B → B=failed
      pass CD; pass A    → ACD=merged
    `;
    const texts = told.steps.flatMap(({ transitions }) =>
      transitions
        .filter(({ prNumber, because }) => prNumber === numberOf('C') && because.isUndecided === true)
        .map((transition) => changeText({ ...transition, branch: 'main' })),
    );
    assert.deepEqual(texts, [
      '#1, #2 failed together. It is not known yet which of them caused it. It is tested again without that one.',
    ]);
  });

  it('un-parking asks again for what was under way [I2]', () => {
    const told = play()`hold landings; submit A B; pass A`;
    const parked = { ...told.queue, parked: { reason: 'a promise', since: told.now } };
    const event = { kind: 'queue_updated', at: told.now, actor: 'ada', settings: {}, state: 'RUNNING' } as const;
    const { queue, effects } = step(parked, event);
    assert.equal(queue.parked, undefined);
    assert.deepEqual(pluck(effects, 'kind'), ['land_candidate', 'start_checks']);
  });

  it('a queue that was parked while it switched its mode can be un-parked [I2] [Q9]', () => {
    const told = play()`submit A; set mode=PARALLEL → queue SWITCHING_MODES`;
    told.queue = { ...told.queue, parked: { reason: 'a promise', since: told.now } };
    told.update({}, 'RUNNING');
    assert.equal(told.queue.parked, undefined);
    told.play(`
             → queue SWITCHING_MODES
      pass A → queue RUNNING
    `);
  });

  story('waiting for the queue does not count as not being ready, also when something comes up later [O4]')`
    with notReadyTimeoutHours=1
    pause; submit A; wait 2h; block A → A=waiting
    wait 59m                          → A=waiting
    wait 1m                           → A=cancelled
  `;

  story('a full group does not wait for half-full ones ahead of it [B10]')`
    with mode=PARALLEL batch=true batchingMinSize=4 batchingMaxWaitTimeMinutes=600
    submit A[x] B[x] C[y] D[y] E[x,y] F[x,y] G[x,y] → ABCDEFG=pending
    submit H[x,y] → ABCDEFGH=testing; testing AB CD AB+CD+EFGH
  `;

  it('says that it stands too far behind, or behind a direct merge [E12] [C23] [L8]', () => {
    const far = play()`with concurrency=2; submit A B C D; pass A+B A+B+C → D=pending`;
    assert.deepEqual(reasonsOf(far, 'D'), ['TOO_FAR_BEHIND']);
    const direct = play()`with directMergeMode=ALWAYS; hold builds; submit A uptodate; submit B`;
    assert.deepEqual(reasonsOf(direct, 'B'), ['BEHIND_DIRECT_MERGE']);
  });

  it('does not speak of a suspected target where an entry is held for another [E12] [V6]', () => {
    const told = play()`
      with mode=PARALLEL pendingFailureDepth=1
      submit A[x]; fail A; submit B[y] C[y]; fail B → B=held
    `;
    assert.deepEqual(reasonsOf(told, 'B'), ['FAILED_CHECKS', 'HELD']);
  });

  story('starts what waits when its targets free it from what it stood behind [C1] [C24]')`
    with mode=PARALLEL concurrency=3
    submit A[x] B[x] C[x]; fail A+B; submit D[x] → D=pending
    targets D[y] → D=testing; testing A A+B+C D
  `;

  it('does not search for ever for what fails only together [B15]', () => {
    const isGreen = (tree: string) => !(tree.includes('A') && tree.includes('C'));
    const told = play()`
      with batch=true batchingMinSize=4 optimizationMode=BISECTION_SKIP_REDUNDANT_TESTS
      submit A B C D
    `;
    for (let round = 0; round < 40; round += 1) {
      const open = told.candidates().find(({ state, sameTreeAs }) => state === 'testing' && sameTreeAs === undefined);
      if (open === undefined) break;
      told.reportCheck(open.number, { conclusion: isGreen(told.branch.treeOf(open)) ? 'SUCCESS' : 'FAILURE' });
      if (round === 4) told.play('foreign X');
    }
    told.play('→ ABD=merged C=failed');
    assert.ok(told.queue.bisectionsEver <= 2, `${told.queue.bisectionsEver} searches`);
  });

  it('a landing beside it removes nobody who failed on a head that is suspected, or red [V36]', () => {
    for (const verdict of ['', '\nfail HEAD']) {
      const told = new Scenario({ mode: 'PARALLEL', concurrency: 6 });
      told.play(`submit A[x] B[y] C[z] E[v] D[w]; fail A B; close A B; fail C${verdict}; fail E → CE=held`);
      told.play('pass D → D=merged CE=testing; why C=TEST_RUN_STARTED');
      told.play(`
        → testing C E
        pass C E
      `);
      told.play('→ CE=merged');
      // No test of the head failed, so no text says that the branch fails.
      const reasons = told.trailOf('C').map(({ because }) => because.reason);
      assert.ok(reasons.includes('TARGET_BRANCH_LEFT') && !reasons.includes('TARGET_BRANCH_RED'), reasons.join());
    }
  });

  it('a direct merge lands nothing that is not ready any more, or not wanted [L8] [E2]', () => {
    for (const act of ['block A', 'retarget A', 'drain', 'set directMergeMode=OFF']) {
      const told = play()`
        with directMergeMode=ALWAYS
        hold builds; submit A uptodate
        ${act}
        release builds
      `;
      assert.notEqual(told.stateOf('A'), 'MERGED', act);
    }
  });

  it('a landing that has not begun is called off by whatever happens [L7] [L5] [E6]', () => {
    // No worker begins the landings: they are requested and have not begun.
    const begin = 'hold landers\nsubmit A B\npass A\n';
    for (const act of ['pause', 'cancel A', 'push A', 'close A', 'foreign X', 'submit C urgent']) {
      const told = play()`${begin}${act}`;
      assert.equal(told.queue.landing, undefined, act);
      assert.equal(told.stateOf('A') === 'TESTS_PASSED', act === 'pause', act);
    }
    const told = play()`${begin}pause; cancel A → A=cancelled`;
    assert.equal(
      told.last?.transitions.some(({ to }) => to === 'MERGED'),
      false,
    );
  });

  it('a landing that is paused before it began is asked for again when the queue goes on [L5]', () => {
    const told = play()`
      hold landers; submit A; pass A; pause → A=passed
      release landers; resume               → A=merged
    `;
    assert.equal(
      told.steps.flatMap(({ effects }) => effects).filter(({ kind }) => kind === 'land_candidate').length,
      2,
    );
  });

  it('a queue that drains, or switches its mode, does not wait for batches [B10] [Q4]', () => {
    play()`with batch=true; submit A; drain → A=testing`;
    play()`
      with batch=true
      submit A; set mode=PARALLEL → queue SWITCHING_MODES; A=testing
      pass A                      → queue RUNNING
    `;
  });

  story('a commit that is built while the queue is paused is shown to CI when it goes on [L5] [I2]')`
    hold builds; submit A; pause; release builds → runs nothing; A=testing
    resume → runs A
    pass A → A=merged
  `;

  it('names only what failed, not what was cut off beside it [V3] [E11]', () => {
    const told = play()`with requiredStatuses=["a","b"]; submit A; cut A by=b; fail A by=a → A=failed`;
    assert.deepEqual(told.lastOf('A')?.because.checks, ['a']);
  });

  story('starts what waits when a search that shared its slots gives one back [B8] [C3]')`
    with batch=true batchingMinSize=2 concurrency=1 bisectionConcurrency=0
    submit A B; fail AB       → testing ~A
    set batch=false; submit C → C=pending
    fail ~A; pass ~B          → B=merged C=testing
  `;
});

describe('lanes that touch one file', () => {
  story('count as overlapping after one could not be put beside the other [L4]', PARALLEL)`
    submit A[x] B[y]; pass A; hold landings; pass B
    refuse composition       → B=testing
    submit C[x]              → testing B B+C
    release landings; pass B → B=merged; proof B=SAME_TREE
  `;
});

describe('a low priority', () => {
  story('counts as one level more each time it has waited so long, and never as urgent [O5]')`
    with priorityAgeingHours=2 concurrency=1 testingTimeoutMinutes=0
    submit U urgent; submit A low; submit B; submit C high → order U C B A; wake 2h
    wait 2h; submit D → order U B C A D
    wait 2h           → order U A B C D
  `;

  story('waits for ever where nothing is set [O5]')`
    with concurrency=1 testingTimeoutMinutes=0
    submit U; submit A low; wait 100h; submit B → order U B A; wake never
  `;

  it('falls back when ageing is switched off [O5]', () => {
    const told = play()`
      with priorityAgeingHours=1 concurrency=1 testingTimeoutMinutes=0
      submit U; submit A low; wait 1h; submit B → order U A B
    `;
    const entry = findEntry(told.queue, numberOf('A'));
    assert.ok(entry !== undefined);
    assert.match(JSON.stringify(explain(told.queue, entry, told.now)), /counts as medium instead of low/);
    told.play('set priorityAgeingHours=0 → order U B A');
  });
});

describe('a check that is run again', () => {
  story('has its time for testing anew [V23]')`
    with testingTimeoutMinutes=60 pendingFailureDepth=1
    submit A B; report A FAILURE started=-1m → A=held
    wait 55m; report A RUNNING started=-1m   → A=testing
    wait 30m                                 → A=testing
    report A SUCCESS started=-31m            → A=merged
  `;

  it('opens its candidate again only where there is a slot [V26] [C3]', () => {
    const told = play()`
      with concurrency=2 pendingFailureDepth=2
      submit A B C; report A FAILURE started=-1m → testing A+B A+B+C
      report A RUNNING started=-0m → A=held; testing A+B A+B+C
    `;
    const entry = findEntry(told.queue, numberOf('A'));
    assert.ok(entry !== undefined);
    assert.match(JSON.stringify(explain(told.queue, entry, told.now)), /runs the failed check again/);
    told.play(`
      pass A+B+C                   → testing A A+B; A=testing
      report A SUCCESS started=-0m → A=merged
    `);
  });

  story('blames nobody while it waits for a slot [V26] [V5]')`
    with concurrency=1 pendingFailureDepth=1
    submit A B; report A FAILURE started=-1m → testing A+B
    report A RUNNING started=-0m; fail A+B   → A=testing B=held
  `;
});

describe('a landing', () => {
  it('by a vouch, while the branch is suspected, leaves what contains all of it as it is [C4] [V36]', () => {
    const told = play()`
      with canOptimisticallyMerge=true concurrency=6
      submit A B C D E; fail A B C → C=held; testing C+D C+D+E HEAD
      pass C+D                     → CD=merged E=testing; testing E
    `;
    assert.equal(told.runs.filter((run) => run === 'C+D+E').length, 1);
    assert.equal(told.runs.filter((run) => run === 'E').length, 0);
  });

  story('refuses a new head of what it lands, and takes it when it has ended [E3] [L25]')`
    hold landings; submit A; pass A; push A; submit A → refused PULL_REQUEST_LANDING
    release landings → A=merged
    submit A         → A=testing
  `;
});

describe('a plan is complete in one step', () => {
  story('lands what passes at once when the equal tree it waited for is given up [C35] [L1]', PARALLEL)`
    with batch=true batchingMinSize=2 batchingMaxWaitTimeMinutes=0 bisectionConcurrency=1
    empty B E X Y; together A[x] B[x]; fail AB; foreign E
    submit X[z]; cancel A → testing X ~B
    submit Y[w]           → runs AB ~A X ~B
    pass ~B               → B=merged XY=testing
    cancel X              → Y=merged; runs AB ~A X ~B
  `;
});

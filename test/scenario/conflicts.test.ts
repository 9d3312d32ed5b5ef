import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play } from './scenario.ts';

describe('an entry that conflicts with the target', () => {
  it('fails at once, and not by way of being held [C9] [C8]', () => {
    play(
      {},
      `
      conflict A main
      submit A B
      states A=failed B=testing
      why A=START_TEST_RUN_MERGE_CONFLICT
      path A waiting pending testing failed
      testing B
      runs B
      `,
    );
  });

  it('fails in a batch, and the others are built without it [C9] [B9]', () => {
    play(
      { batch: true, batchingMinSize: 3 },
      'conflict B main\nsubmit A B C\nstates B=failed AC=testing\ntesting AC\nruns AC\nwhy B=START_TEST_RUN_MERGE_CONFLICT',
    );
  });
});

describe('an entry that conflicts with one ahead', () => {
  it('goes ahead of it when it becomes urgent [C9] [O2]', () => {
    play(
      {},
      `
      conflict B A
      submit A low
      submit B low
      aside B=A
      submit B urgent
      aside
      testing B B+A
      pass B
      states B=merged
      `,
    );
  });

  it('is tried again once the one it conflicts with stands behind it [C9]', () => {
    play(
      { concurrency: 2 },
      `
      conflict C B
      submit B C
      aside C=B
      submit U V urgent
      states B=pending UV=testing
      aside C=B
      submit C high
      aside
      pass U
      testing V V+C
      `,
    );
  });

  it('stays behind one that is under test, whatever its own priority but urgent [C9]', () => {
    play({}, 'conflict B A\nsubmit A low\nsubmit B low\nsubmit B high\naside B=A\ntesting A');
  });

  it('is set aside and explained: pending, and nobody’s predecessor [C9]', () => {
    play(
      {},
      `
      conflict C B
      submit A B C D
      states ABD=testing C=pending
      why C=CONFLICTS_WITH_PREREQUISITE
      cause C=B
      aside C=B
      testing A A+B A+B+D
      runs A A+B A+B+D
      `,
    );
  });

  it('does not wait for one that landed while it was built, and was submitted again [C9]', () => {
    play(
      { concurrency: 2 },
      `
      conflict A D
      submit D
      hold builds
      submit A
      set mode=PARALLEL
      pass D
      states D=merged A=testing
      submit D
      release builds
      aside
      states A=failed
      why A=START_TEST_RUN_MERGE_CONFLICT
      `,
    );
  });

  it('fails once the one it conflicts with has landed [C9]', () => {
    play(
      {},
      `
      conflict B A
      submit A B C
      aside B=A
      pass A
      states A=merged B=failed C=testing
      why B=START_TEST_RUN_MERGE_CONFLICT
      aside
      testing C
      path C waiting pending testing
      runs A A+C
      `,
    );
  });

  for (const act of ['fail', 'cancel', 'push', 'close']) {
    it(`is tested when the one it conflicts with left by "${act}" [C9]`, () => {
      play(
        {},
        `
        conflict B A
        submit A B
        aside B=A
        ${act} A
        states B=testing
        aside
        testing B
        pass B
        states B=merged
        target M+B
        `,
      );
    });
  }

  it('comes back ahead of later entries that are not under test [C9] [O1]', () => {
    play(
      { concurrency: 2 },
      `
      conflict B A
      submit A B C D
      testing A A+C
      states BD=pending
      cancel A
      testing B B+C
      states D=pending
      order B C D
      `,
    );
  });

  it('is not waited for by blame, and not blamed [C9] [V4]', () => {
    play(
      {},
      `
      conflict B A
      submit A B C
      fail A+C
      states C=held B=pending
      pass A
      states A=merged C=failed B=failed
      why C=TEST_RUN_REQUIRED_STATUS_FAILED
      `,
    );
  });

  it('does not prolong a hold [C9] [V6]', () => {
    play(
      { pendingFailureDepth: 1, canOptimisticallyMerge: true },
      `
      conflict B A
      submit A B
      aside B=A
      fail A
      states A=failed B=testing
      `,
    );
  });

  it('does not stop what is behind it from landing [C9] [L2]', () => {
    play(
      {},
      `
      conflict B A
      conflict B C
      submit A B C
      hold landings
      pass A
      pass A+C
      states AC=passed
      release landings
      states AC=merged B=failed
      target M+A+C
      `,
    );
  });

  it('can conflict with the next one after the first has left [C9]', () => {
    play(
      {},
      `
      conflict C A
      conflict C B
      submit A B C
      aside C=A
      cancel A
      aside C=B
      states C=pending
      cancel B
      aside
      states C=testing
      `,
    );
  });

  it('is left out of a batch, which is built without it at once [C9]', () => {
    play(
      { batch: true, batchingMinSize: 3 },
      `
      conflict C A
      submit A B C
      states AB=testing C=pending
      trail A PREREQUISITE_MERGE_ITEM_SET_ASIDE TEST_RUN_STARTED
      cause A=nobody
      aside C=A
      testing AB
      runs AB
      pass AB
      states AB=merged C=failed
      target M+A+B
      `,
    );
  });

  it('names the one that was set aside to the others of its batch [C9] [E11]', () => {
    const told = play({ batch: true, batchingMinSize: 2 }, 'conflict B A\nsubmit A B');
    const transition = told.trailOf('A').find(({ because }) => because.reason === 'PREREQUISITE_MERGE_ITEM_SET_ASIDE');
    assert.equal(transition?.because.prNumber, 2);
  });

  it('takes what was built on its batch with it [C9] [C5]', () => {
    play(
      { batch: true, batchingMinSize: 2, batchingMaxWaitTimeMinutes: 0 },
      `
      conflict B A
      pause
      submit A B C D
      hold builds
      resume
      testing AB AB+CD
      release builds
      aside B=A
      testing AC AC+D
      `,
    );
  });

  it('goes back into the line when it conflicts within a search, and is set aside there [C9] [B9]', () => {
    play(
      { batch: true, batchingMinSize: 4, batchingMaxWaitTimeMinutes: 0 },
      `
      pause
      submit A B C D
      resume
      fail ABCD
      fail ~AB
      conflict B A
      fail ~A
      states A=failed BCD=testing
      `,
    );
    play(
      { batch: true, batchingMinSize: 2, batchingMaxWaitTimeMinutes: 5 },
      `
      pause
      submit A B
      resume
      conflict B A
      fail AB
      states AB=testing
      testing B ~A
      trail B BISECTION_REQUIRED TEST_RUN_STARTED CONFLICTS_WITH_PREREQUISITE TEST_RUN_STARTED
      `,
    );
  });

  it('is cancelled while set aside like any other [C9] [E6]', () => {
    play({}, 'conflict B A\nsubmit A B\ncancel B\nstates B=cancelled A=testing\npass A\ntarget M+A');
  });

  it('is tried again after somebody moved the target, when its culprit ended [C9] [C6]', () => {
    play({}, 'conflict B A\nsubmit A B\nforeign X\naside B=A\ntesting A\ncancel A\ntesting B');
  });
});

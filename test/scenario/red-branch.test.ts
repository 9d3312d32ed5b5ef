import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explain } from '../../src/engine/explain.ts';
import { findEntry } from '../../src/engine/queue.ts';
import { play, type Scenario } from './scenario.ts';
import { numberOf } from './words.ts';

/** A and B fail alone on M, one after the other, by the same check. The head fails too. */
const RED = 'submit A B\nfail A\nfail B\nfail HEAD\nalarm RED_TARGET\n';
const BATCH = { batch: true, batchingMinSize: 4 } as const;

function summaryOf(told: Scenario, name: string): string {
  const entry = findEntry(told.queue, numberOf(name));
  assert.ok(entry !== undefined);
  const { summary, next } = explain(told.queue, entry, told.now);
  return `${summary} ${next}`;
}

describe('who was removed for a failure of the branch returns', () => {
  it('to the old place, with the reason, ahead of who came later [V18]', () => {
    play(
      {},
      `
      submit A B C
      fail A
      fail B
      states AB=failed
      fail HEAD
      states AB=pending
      path A failed pending
      why A=TARGET_BRANCH_AT_FAULT B=TARGET_BRANCH_AT_FAULT
      foreign Fix
      testing A A+B A+B+C
      pass A
      pass B
      pass C
      states ABC=merged
      target M+Fix+A+B+C
      `,
    );
  });

  it('but not where it was pushed to, closed or submitted again [V18]', () => {
    const begin = 'submit A B C\nfail A\nfail B\n';
    play({}, `${begin}push A\nclose B\nfail HEAD\nstates AB=failed\nalarm RED_TARGET`);
    const told = play({}, `${begin}hold builds\nsubmit A\nrelease builds\nfail HEAD\nstates B=pending`);
    assert.equal(told.trailOf('A').filter(({ because }) => because.reason === 'TARGET_BRANCH_AT_FAULT').length, 0);
  });

  it('but not where it failed another check than the branch does [V18]', () => {
    play(
      {},
      `
      sources protection=ci,lint
      submit A B C
      fail A by=lint
      fail B
      fail C
      pass HEAD by=lint
      fail HEAD
      states A=failed BC=pending
      `,
    );
  });

  it('for every check that the branch fails, also those that report later [V18]', () => {
    play(
      {},
      `
      sources protection=ci,lint
      submit A B C
      fail A by=lint
      fail B
      fail C
      fail HEAD
      states A=failed BC=pending
      fail HEAD by=lint
      states ABC=pending
      alarm RED_TARGET
      wake 10m
      `,
    );
  });

  it('when several failed in different ways: then the head is tested, too [V10] [V18]', () => {
    play(
      { concurrency: 1 },
      `
      sources protection=ci,lint
      submit A B C D E
      fail A
      fail B by=lint
      fail C
      fail D by=lint
      testing E HEAD
      fail E
      states E=held
      fail HEAD
      fail HEAD by=lint
      states ABCD=pending E=held
      `,
    );
  });

  it('from a search, whose base is the head, as well [V18] [B6]', () => {
    play(
      BATCH,
      `
      submit A B C D
      fail ABCD
      fail ~AB
      fail ~A
      fail ~BCD
      fail ~BC
      fail ~B
      states AB=failed
      fail HEAD
      states ABCD=pending
      foreign Fix
      testing ABCD
      pass ABCD
      states ABCD=merged
      `,
    );
  });

  it('also when somebody mends the branch before its own test has ended [V18]', () => {
    play(
      {},
      `
      submit A B C
      fail A
      fail B
      testing C HEAD
      foreign Fix
      testing C HEAD
      fail HEAD
      states ABC=testing
      alarm FOREIGN_PUSH
      `,
    );
  });
});

describe('a search whose base may have been red', () => {
  it('removes nobody for a failure on a base that was mended meanwhile [V19] [B4]', () => {
    const told = play(BATCH, 'submit A B C D\nfail ABCD\nforeign Fix\nfail ~AB');
    told.play('fail ~A\nstates ABCD=testing\nwhy A=TEST_RUN_STARTED\ntesting ABCD\npass ABCD\nstates ABCD=merged');
    assert.ok(told.trailOf('A').some(({ because }) => because.reason === 'TARGET_BRANCH_LEFT'));
  });

  it('is given up when the branch moves after one was removed, and the base tested for that one [V19] [V18]', () => {
    play(
      BATCH,
      `
      submit A B C D
      fail ABCD
      fail ~AB
      fail ~A
      states A=failed
      foreign Fix
      testing BCD HEAD
      fail HEAD
      states A=testing
      pass BCD
      pass A
      states ABCD=merged
      `,
    );
  });

  it('leaves the removal as it is where the base passes by itself [V19]', () => {
    play(
      BATCH,
      'submit A B C D\nfail ABCD\nfail ~AB\nfail ~A\nforeign X\ntesting BCD HEAD\npass HEAD\nstates A=failed',
    );
  });

  it('goes on after a push where its base was landed by the queue as tested [B4] [V19]', () => {
    play(
      { ...BATCH, batchingMinSize: 2 },
      'submit P Q\npass PQ\nsubmit A B\nfail AB\nforeign X\nfail ~A\nstates A=failed\ntesting ~B',
    );
  });
});

describe('a queue that holds looks at its branch again by itself', () => {
  it('after 10, 20, 40 and then every 60 minutes, and goes on when it passes [V16]', () => {
    const told = play({}, `${RED}wake 10m\nwait 10m\ntesting HEAD\nfail HEAD\nwake 20m\nwait 20m\ntesting HEAD`);
    told.play(
      'fail HEAD\nwake 40m\nwait 40m\nfail HEAD\nwake 60m\nwait 60m\nfail HEAD\nwake 60m\nalarm RED_TARGET\nover',
    );
    told.play(
      'wait 60m\npass HEAD\nover RED_TARGET\ntesting A A+B\npass A\npass B\nstates AB=merged\nalarm RED_TARGET',
    );
  });

  it('tests again what failed while it held: the branch was to blame [V16]', () => {
    play(
      {},
      `submit A B C D\nfail A\nfail B\nfail HEAD\nfail C\nstates C=held\nwait 10m\npass HEAD\ntesting A A+B A+B+C A+B+C+D`,
    );
  });

  it('tests the head again before anybody is removed, where somebody went on although it was red [V10] [V16]', () => {
    play({}, `${RED}resume\nfail A\nstates A=held\ntesting A+B HEAD\nfail HEAD\nstates A=held`);
    play({}, `${RED}resume\nfail A\npass HEAD\nstates A=failed B=testing`);
  });

  it('does not look while it is paused [V16] [V11]', () => {
    play({}, `${RED}pause\nwake never\nwait 10m\ntesting\nresume\ntesting A A+B`);
  });

  it('says when it looks again, and that it is nobody’s fault [E12] [V16]', () => {
    const told = play({}, RED);
    assert.match(summaryOf(told, 'A'), /The head of main fails ci by itself.*tested again by itself at 12:10 UTC/);
    told.play('wait 10m');
    assert.match(summaryOf(told, 'A'), /being tested again now/);
  });
});

describe('a repair', () => {
  it('submitted after the hold began is tested alone on the red head, and lands if it passes [V17]', () => {
    play(
      {},
      `
      ${RED}
      submit E
      testing !E
      states E=testing AB=pending
      pass !E
      states E=merged
      over RED_TARGET
      testing A A+B
      target M+E
      `,
    );
  });

  it('that does not help waits with the others, and is not tried again on this head [V17]', () => {
    play(
      {},
      `${RED}submit E\nfail !E\nstates E=pending\nwhy E=REPAIR_TEST_RUN_FAILED\ntesting\nwait 10m\ntesting HEAD\nfail HEAD\ntesting`,
    );
  });

  it('is tested one at a time, urgent ones first [V17]', () => {
    play(
      {},
      `${RED}submit E F\nsubmit G urgent\ntesting !E\nfail !E\ntesting !G\nfail !G\ntesting !F\npass !F\nstates F=merged\ntarget M+F`,
    );
  });

  it('submitted before the hold is tested when it is submitted again as one [V17]', () => {
    play(
      {},
      `submit A B C\nfail A\nfail B\npush C\nclose C\nfail HEAD\ntesting\nsubmit B repair\ntesting !B\npass !B\nstates B=merged`,
    );
  });

  it('is tested in its turn when the branch passes by itself meanwhile [V17] [V16]', () => {
    play({}, `${RED}submit E\ntesting !E\nwait 10m\ntesting !E HEAD\npass HEAD\ntesting A A+B A+B+E`);
  });

  it('starts again on the new head when somebody pushes [V17]', () => {
    play({}, `${RED}submit E\nforeign X\ntesting A A+B A+B+E`);
  });

  it('is tried again when its run gives no answer, and leaves when it is cancelled [V17] [V3] [E6]', () => {
    play({}, `${RED}submit E\ncut !E\ntesting !E\ncancel E\nstates E=cancelled\ntesting`);
  });

  it('says that it is one [E12] [V17]', () => {
    const told = play({}, `${RED}submit E F`);
    assert.match(summaryOf(told, 'E'), /If it passes it lands at once/);
    assert.match(summaryOf(told, 'F'), /possible repair/);
    assert.match(summaryOf(told, 'A'), /submit it again as a repair/);
  });
});

describe('a configuration that cannot be used', () => {
  const PROBLEM = 'sources problem=START_TEST_RUN_CONFIG_PARSING_FAILURE\n';

  it('holds the queue when it meets a second entry on one head, and removes nobody for it [V20]', () => {
    play(
      {},
      `
      ${PROBLEM}
      submit A
      states A=failed
      submit B C
      states ABC=pending
      alarm BROKEN_CONFIGURATION
      testing
      wake 10m
      `,
    );
  });

  it('holds it at once when it meets a batch [V20]', () => {
    play(BATCH, `${PROBLEM}submit A B C D\nstates ABCD=pending\nalarm BROKEN_CONFIGURATION`);
  });

  it('is looked at again by itself, and the queue goes on without a test of the head [V20] [V16]', () => {
    play(
      {},
      `
      ${PROBLEM}
      submit A B
      wait 10m
      testing
      wake 20m
      sources protection=ci
      wait 20m
      over BROKEN_CONFIGURATION
      testing A A+B
      runs A A+B
      `,
    );
  });

  it('goes on at once when required statuses are set on the queue, or it is set to RUNNING [V20]', () => {
    play({}, `${PROBLEM}submit A B\nset requiredStatuses=["ci"]\nover BROKEN_CONFIGURATION\ntesting A A+B`);
    play({}, `${PROBLEM}submit A B\nsources protection=ci\nresume\ntesting A A+B`);
  });

  it('starts no repair: what a pull request holds is not read [V20] [V17]', () => {
    const told = play({}, `${PROBLEM}submit A B\nsubmit C\nstates C=pending\ntesting`);
    assert.match(summaryOf(told, 'C'), /requiredStatuses/);
  });

  it('counts each problem for itself, and no conflicts [V20] [C8]', () => {
    play({}, `${PROBLEM}submit A\nsources\nsubmit B\nstates AB=failed\nalarm`);
    play({}, 'conflict A main\nconflict B main\nsubmit A B\nstates AB=failed\nalarm');
  });

  it('of test branches that the forge refuses is told apart by a test of the head [V20]', () => {
    play(
      {},
      `
      hold builds
      submit A B
      unbuildable A START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH
      states A=failed
      unbuildable B START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH
      states AB=pending
      alarm BROKEN_CONFIGURATION
      release builds
      wait 10m
      testing HEAD
      pass HEAD
      over BROKEN_CONFIGURATION
      testing A A+B
      `,
    );
  });
});

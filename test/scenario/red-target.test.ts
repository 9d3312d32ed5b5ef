import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play } from './scenario.ts';

/** A and B fail alone on M, one after the other, by the same check. */
const TWO = 'submit A B C D\nfail A\nstates A=failed\nfail B\nstates B=failed\n';

describe('a red target is not the next pull request’s fault', () => {
  it('tests the head itself after two entries in a row failed alone by the same check [V10]', () => {
    play({}, `${TWO}\nstates CD=testing\ntesting C C+D HEAD\nruns A A+B A+B+C A+B+C+D B B+C B+C+D HEAD C C+D`);
  });

  it('runs the checks on the head though its tree has passed when it landed [V10] [C10]', () => {
    play(
      {},
      `
      submit A
      pass A
      submit B C D
      fail B
      fail C
      testing D HEAD
      fail HEAD
      alarm RED_TARGET
      fail D
      states BC=pending D=held
      why B=TARGET_BRANCH_AT_FAULT C=TARGET_BRANCH_AT_FAULT
      `,
    );
  });

  it('interrupts nothing for an urgent one: what passes may mend it [V10] [O2]', () => {
    play(
      {},
      `
      ${TWO}
      fail HEAD
      alarm RED_TARGET
      submit E urgent
      states CDE=testing
      testing C C+D !E
      pass C
      states C=merged
      target M+C
      testing E E+A E+A+B E+A+B+D
      `,
    );
  });

  it('does not remove a third before the head has answered [V10]', () => {
    play(
      {},
      `
      ${TWO}
      fail C
      states C=held D=testing
      testing C+D HEAD
      pass HEAD
      states C=failed D=testing
      testing D
      alarm
      `,
    );
  });

  it('removes entries as usual on a head that passes by itself, and does not test it again [V10]', () => {
    play(
      {},
      `
      ${TWO}
      pass HEAD
      fail C
      states C=failed D=testing
      fail D
      states D=failed
      submit E
      fail E
      states E=failed
      candidates
      alarm
      `,
    );
  });

  it('holds when the head fails by itself: nothing starts, nobody is removed, and an alarm is raised [V10]', () => {
    const told = play(
      {},
      `
      ${TWO}
      fail HEAD
      alarm RED_TARGET
      states CD=testing
      fail C
      states C=held D=testing
      fail C+D
      states AB=pending CD=held
      testing
      `,
    );
    assert.deepEqual(told.queue.hold?.cause, { kind: 'checks', names: ['ci'] });
    told.play('foreign X\nstates ABCD=testing\ntesting A A+B A+B+C A+B+C+D\nalarm RED_TARGET FOREIGN_PUSH');
    told.play('over RED_TARGET');
    assert.equal(told.queue.hold, undefined);
  });

  it('still lands what passes while it holds, and goes on when that moves the head [V10] [L1]', () => {
    play(
      {},
      `
      ${TWO}
      fail HEAD
      pass C
      states C=merged D=testing
      target M+C
      testing D D+A D+A+B
      `,
    );
  });

  it('goes on when tests are restarted: what was held is tested again [V10] [C12]', () => {
    play(
      {},
      `
      ${TWO}
      fail HEAD
      fail C
      states C=held
      restart C
      states ABCD=testing
      trail C TESTS_RESTARTED_BY_API_REQUEST TEST_RUN_STARTED
      testing A A+B A+B+C A+B+C+D
      pass A
      states A=merged
      `,
    );
  });

  it('restarts also the others that failed meanwhile when one is restarted [V10] [C12]', () => {
    play(
      {},
      `
      ${TWO}
      fail HEAD
      fail C C+D
      states CD=held
      restart D
      states CD=testing
      trail C TESTS_RESTARTED_BY_API_REQUEST TEST_RUN_STARTED
      trail D TESTS_RESTARTED_BY_API_REQUEST TEST_RUN_STARTED
      testing A A+B A+B+C A+B+C+D
      `,
    );
  });

  it('goes on when the queue is set to RUNNING, also when it is RUNNING [V10]', () => {
    play(
      {},
      `
      ${TWO}
      fail HEAD
      fail C
      states C=held D=testing
      resume
      states CD=testing
      trail C TESTS_RESTARTED_BY_USER TEST_RUN_STARTED
      testing A A+B A+B+C A+B+C+D
      `,
    );
  });

  it('suspects nothing after a single failure, or of the same entry twice [V10]', () => {
    play({}, 'submit A\nfail A\nsubmit A\nfail A\nsubmit A\nfail A\nstates A=failed\ncandidates');
  });

  it('suspects nothing when the checks differ [V10]', () => {
    play(
      {},
      'sources protection=ci,lint\nsubmit A B C\nfail A\nfail B by=lint\nstates AB=failed\ntesting C\nfail C\nstates C=failed\ncandidates',
    );
  });

  it('removes an entry that fails another check while the head is tested [V10]', () => {
    play(
      {},
      `
      sources protection=ci,lint
      submit A B C
      fail A
      fail B
      testing C HEAD
      fail C by=lint
      states C=failed
      `,
    );
  });

  it('suspects nothing when the head moved in between [V10]', () => {
    play(
      {},
      'submit A B C D\nfail A\npass B\nstates B=merged\nfail C\nstates C=failed\ntesting D\nruns A A+B A+B+C A+B+C+D B B+C B+C+D D',
    );
  });

  it('suspects nothing when something was tested beneath [V10]', () => {
    play(
      { canOptimisticallyMerge: false },
      `
      submit A B C D
      fail A
      fail B+C
      states B=testing C=held
      pause
      pass B
      states B=passed C=failed
      resume
      states B=merged D=testing
      testing D
      `,
    );
  });

  it('counts timeouts by the checks that did not come [V10] [V1]', () => {
    play(
      { testingTimeoutMinutes: 30, concurrency: 1 },
      'submit A B C\nwait 30m\nstates A=failed\nwait 30m\nstates B=failed\ntesting C HEAD',
    );
  });

  it('counts single entries of a search, and holds the third of them [V10] [B6]', () => {
    play(
      { batch: true, batchingMinSize: 4 },
      `
      submit A B C D
      fail ABCD
      fail ~AB
      fail ~A
      states A=failed
      testing ~BCD
      fail ~BCD
      fail ~BC
      fail ~B
      states B=failed
      testing ~CD HEAD
      fail ~CD
      fail ~C
      states C=held D=testing
      pass HEAD
      states C=failed
      testing ~D
      `,
    );
  });

  it('gives up a search on a red head, and tests its entries again when it goes on [V10] [B4]', () => {
    play(
      { batch: true, batchingMinSize: 4, bisectionConcurrency: 4 },
      `
      submit A B C D
      fail ABCD
      fail ~AB
      fail ~A
      fail ~BCD
      fail ~BC
      fail ~B
      fail HEAD
      alarm RED_TARGET
      states CD=pending
      why C=TARGET_BRANCH_RED D=TARGET_BRANCH_RED
      states AB=pending
      why A=TARGET_BRANCH_AT_FAULT B=TARGET_BRANCH_AT_FAULT
      testing
      resume
      testing ABCD
      `,
    );
  });

  it('holds a batch that fails on a red head: nobody is removed for it [V10] [B4]', () => {
    const told = play({ batch: true, batchingMinSize: 2 }, 'submit E F\nhold builds\nfail EF\nrelease builds\nfail ~E');
    told.play('submit A B\nfail ~F\nfail HEAD\nalarm RED_TARGET\nstates EF=pending AB=testing\nfail AB');
    told.play('states AB=held EF=pending\ntesting\nforeign X\ntesting EF EF+AB');
  });

  it('tries a head again that cannot be tested, and then judges entries as usual [V10] [C8]', () => {
    play(
      {},
      `
      submit A B C
      fail A
      hold builds
      fail B
      testing C HEAD
      unbuildable HEAD START_TEST_RUN_RETRY_EXHAUSTED
      testing C HEAD
      unbuildable HEAD START_TEST_RUN_RETRY_EXHAUSTED
      testing C HEAD
      unbuildable HEAD START_TEST_RUN_RETRY_EXHAUSTED
      testing C
      release builds
      fail C
      states C=failed
      alarm
      `,
    );
  });

  it('tries the head again when its test gave no answer [V10] [V3]', () => {
    play({}, `${TWO}\ncut HEAD\ntesting C C+D HEAD\npass HEAD\nfail C\nstates C=failed`);
  });

  it('gives up the test of the head when it moves [V10]', () => {
    play({}, `${TWO}\ntesting C C+D HEAD\npass C\nstates C=merged\ncandidates D=testing`);
  });

  it('does not test the head while the queue is paused [V10] [V11]', () => {
    play({}, 'submit A B\nfail A\npause\nfail B\nstates B=failed\ncandidates\nresume\ntesting HEAD');
  });

  it('tests the head beside full slots [V10]', () => {
    play({ concurrency: 1 }, 'submit A B C\nfail A\nfail B\ntesting C HEAD');
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play } from './scenario.ts';

const PARALLEL = { mode: 'PARALLEL' } as const;
const TWO_CHECKS = 'sources protection=ci,lint\n';

describe('what counts as two in a row', () => {
  it('holds who fails in another way, too, once the head is known to be red [V10]', () => {
    play({}, `${TWO_CHECKS}submit A B C\nfail A\nfail B\nfail HEAD\nfail C by=lint\nstates C=held`);
  });

  it('suspects the head only of the checks that all of them failed [V10]', () => {
    const settings = { concurrency: 1, testingTimeoutMinutes: 60 };
    play(
      settings,
      `${TWO_CHECKS}submit A B C\nwait 60m\nstates A=failed\nfail B\ntesting C HEAD\nfail C by=lint\nstates C=failed`,
    );
    play(
      settings,
      `${TWO_CHECKS}submit A B C\nfail A\nwait 60m\nstates B=failed\ntesting C HEAD\nfail C by=lint\nstates C=failed`,
    );
  });

  it('counts a failure in several checks of which one is suspected [V10]', () => {
    play(
      { concurrency: 1, testingTimeoutMinutes: 60 },
      `${TWO_CHECKS}submit A B C\nfail A\nfail B\nwait 30m\nreport HEAD RUNNING\nwait 30m\nstates C=held`,
    );
  });

  it('asks again about another check, though the head passed when it was asked about one [V10]', () => {
    play(
      {},
      `
      ${TWO_CHECKS}
      submit A B C D E
      fail A
      fail B
      pass HEAD
      pass HEAD by=lint
      fail C by=lint
      fail D by=lint
      states ABCD=failed
      testing E HEAD
      `,
    );
  });

  it('searches a batch that fails while the head is suspected [V10] [V5]', () => {
    play(
      { batch: true, batchingMinSize: 2 },
      `
      submit A B nobatch
      submit C D
      fail A
      fail B
      testing CD HEAD
      fail CD
      trail C BISECTION_REQUIRED TEST_RUN_STARTED
      `,
    );
  });

  it('does not count who failed on top of what has passed and not landed [V10]', () => {
    play({}, 'hold landings\nsubmit A B C D\npass A\nfail A+B\nfail A+C\nstates BC=failed\ntesting A+D');
  });

  it('tests the head after four that failed on top of what has passed, and has them return [V10] [V18]', () => {
    play(
      { concurrency: 6 },
      `
      hold landings
      submit A B C D E F
      pass A
      fail A+B
      fail A+C
      fail A+D
      fail A+E
      states BCDE=failed
      testing A+F HEAD
      fail A+F
      states F=held
      fail HEAD
      states F=held BCDE=pending
      alarm RED_TARGET
      `,
    );
  });

  it('tests the new head for those who failed on top of what has landed since [V10] [V18]', () => {
    play(
      { concurrency: 6 },
      `
      hold landings
      submit A B C D E F
      pass A
      fail A+B
      fail A+C
      states BC=failed
      release landings
      fail D
      fail E
      states DE=failed
      testing F HEAD
      fail HEAD
      states BCDE=pending
      `,
    );
  });

  it('tests the commit on which three failed beside a landing, and tests them on the head where it fails [V10] [C4]', () => {
    play(
      PARALLEL,
      `
      submit A[x] B[y] C[z] D[w]
      pass D
      fail A
      fail B
      states AB=failed
      fail C
      states C=held
      testing HEAD
      fail HEAD
      states ABC=testing
      target M+D
      `,
    );
  });

  it('counts who failed on top of what has landed [V10]', () => {
    play({}, 'submit A B C D\npass A\nfail B\nfail C\nstates BC=failed\ntesting D HEAD');
  });

  it('does not count who was not tested with what landed beside [V10] [C4]', () => {
    play(PARALLEL, 'submit A[x] B[y] C[z] D[w]\npass D\nfail A\nfail B\nstates AB=failed\ntesting C');
  });

  it('does not count who failed in a search on top of others [V10] [B6]', () => {
    play(
      { ...PARALLEL, batch: true, batchingMinSize: 2 },
      `
      hold landings
      submit A[x] B[x]
      submit C[y] D[y]
      fail AB
      fail CD
      pass ~A
      fail ~A+B
      pass ~C
      fail ~C+D
      states BD=failed
      testing
      `,
    );
  });
});

describe('what a report changes', () => {
  it('says nothing new while other checks are open [V1] [E11]', () => {
    const told = play({}, `${TWO_CHECKS}submit A\npass A\nstates A=testing`);
    assert.equal(told.trailOf('A').filter(({ to }) => to === 'TESTING').length, 1);
  });

  it('does not hold a failure longer because another check fails, too [V6]', () => {
    play({ pendingFailureDepth: 1 }, `${TWO_CHECKS}submit A B\nfail A\nwait 30m\nfail A by=lint\nwake 30m`);
  });

  it('does not hold a failure longer because a newer attempt is inconclusive, too [V6] [V3]', () => {
    play(
      { pendingFailureDepth: 1 },
      `
      submit A B
      cut A
      cut A
      report A CANCELLED started=0m
      states A=held
      wait 30m
      report A CANCELLED started=0m
      wake 30m
      `,
    );
  });

  it('names only the checks without any result when time is over [V1]', () => {
    play(
      { testingTimeoutMinutes: 60 },
      `${TWO_CHECKS}submit A\ncut A\nwait 60m\nwhy A=TEST_RUN_TIMEOUT\nchecks A=lint`,
    );
  });

  it('keeps a thousand names, and whatever is required beyond [V1]', () => {
    const told = play({}, 'submit A');
    for (let index = 0; index < 1_001; index += 1) told.reportCheck(told.candidate('A').number, { name: `n${index}` });
    assert.equal(told.candidate('A').checks.length, 1_000);
    told.play('pass A\nstates A=merged');
  });

  it('holds a failure for a successor that waits to be tried again [V6] [V3]', () => {
    play({ pendingFailureDepth: 1 }, 'submit A B\nfail A\npause\ncut A+B\nstates A=held B=pending');
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play } from './scenario.ts';

describe('what the required checks say', () => {
  for (const conclusion of ['SUCCESS', 'NEUTRAL', 'SKIPPED']) {
    it(`takes ${conclusion} for a pass [V1]`, () => {
      play({}, `submit A\nreport A ${conclusion}\nstates A=merged\nwhy A=MERGE_GRAPH_MERGE`);
    });
  }

  for (const conclusion of ['FAILURE', 'ERROR', 'TIMED_OUT', 'ACTION_REQUIRED']) {
    it(`takes ${conclusion} for a failure [V1]`, () => {
      play({}, `submit A\nreport A ${conclusion}\nstates A=failed\nwhy A=TEST_RUN_REQUIRED_STATUS_FAILED\nchecks A=ci`);
    });
  }

  for (const conclusion of ['CANCELLED', 'STALE']) {
    it(`takes ${conclusion} for no answer: it is tried again, twice at most, and has then failed [V3]`, () => {
      play(
        {},
        `
        submit A B
        report A ${conclusion}
        states A=testing
        trail A TEST_RUN_INCONCLUSIVE TEST_RUN_STARTED
        path B waiting pending testing     # what is built on it is not restarted
        runs A A+B A
        report A ${conclusion}
        states A=testing
        runs A A+B A A
        report A ${conclusion}
        states A=failed B=testing
        why A=TEST_RUN_REQUIRED_STATUS_FAILED
        checks A=ci
        runs A A+B A A B
        `,
      );
    });
  }

  it('takes a lost runner for no answer too [V3]', () => {
    play(
      {},
      `
      submit A
      lose A
      trail A TEST_RUN_INCONCLUSIVE TEST_RUN_STARTED
      report A CANCELLED
      lose A
      states A=failed
      why A=TEST_RUN_REQUIRED_STATUS_FAILED
      runs A A A
      `,
    );
  });

  it('does not count what a restart of the server interrupts [V3]', () => {
    play(
      {},
      `
      submit A
      interrupt A
      interrupt A
      interrupt A
      interrupt A
      states A=testing
      lose A
      interrupt A
      lose A
      states A=testing
      runs A A A A A A A A
      lose A
      states A=failed
      `,
    );
  });

  it('passes after it was tried again, and begins to count anew in another candidate [V3]', () => {
    play(
      {},
      `
      submit A B
      cut A+B
      cut A+B
      states B=testing
      fail A
      testing B            # another candidate: two more tries
      cut B
      cut B
      states B=testing
      pass B
      states B=merged
      `,
    );
  });

  it('waits for all required checks before it passes, and for none once one failed [V1]', () => {
    play(
      {},
      `
      sources protection=a,b,c
      submit A
      pass A by=b
      report A RUNNING by=a
      pass A by=c
      states A=testing
      pass A by=a
      states A=merged
      submit B
      pass B by=a
      fail B by=c
      states B=failed
      checks B=c
      `,
    );
  });

  it('waits for the others when one gave no answer: one of them may fail for real [V3] [V1]', () => {
    play(
      {},
      `
      sources protection=a,b
      submit A B
      cut A by=a
      states A=testing
      runs A A+B
      fail A by=b
      states A=failed
      checks A=b
      `,
    );
    play({}, 'sources protection=a,b\nsubmit A\ncut A by=a\npass A by=b\nstates A=testing\nruns A A');
  });

  it('does not care about checks that are not required [V1]', () => {
    play({}, 'submit A\nfail A by=lint\nstates A=testing\ncut A by=lint\nstates A=testing\npass A\nstates A=merged');
  });

  it('fails when the time for testing is over, by way of being held [V1] [V4]', () => {
    play(
      { testingTimeoutMinutes: 30 },
      `
      sources protection=a,b,c
      submit A
      wait 10m
      submit B
      pass A by=b
      wake 10m
      wait 19m
      states A=testing
      wait 1m
      states A=failed B=testing
      why A=TEST_RUN_TIMEOUT
      checks A=a,c
      path A testing held failed
      wake 30m
      `,
    );
  });

  it('counts the time from the start of the run, not of the entry [V1]', () => {
    play(
      { testingTimeoutMinutes: 30 },
      'hold builds\nsubmit A\nwait 1h\nstates A=testing\nrelease builds\nwake 30m\nwait 29m\nstates A=testing\nwait 1m\nstates A=failed',
    );
  });

  it('waits for ever with a timeout of 0 [V1]', () => {
    play({ testingTimeoutMinutes: 0 }, 'submit A\nwake never\nwait 9000h\nstates A=testing\npass A\nstates A=merged');
  });

  it('holds a timed-out entry while one ahead is open, like any failure [V4]', () => {
    play(
      { testingTimeoutMinutes: 30 },
      'submit A\nsubmit B\nwait 20m\nrestart A\nwait 10m\nstates A=testing B=held\nwhy B=TEST_RUN_TIMEOUT\npass A\nstates A=merged B=failed',
    );
  });
});

describe('reports that are repeated, late or out of order', () => {
  it('lets a pass be final [V1]', () => {
    play(
      {},
      'submit A B\npause\npass A\nstates A=passed\nfail A\nignored\nreport A RUNNING started=1m\nignored\nstates A=passed',
    );
  });

  it('takes the first COMPLETED report without start times [V2]', () => {
    play(
      {},
      `
      submit A B
      fail A+B
      states B=held
      pass A+B
      ignored
      fail A+B
      ignored
      report A+B RUNNING
      ignored
      report A+B QUEUED
      ignored
      states B=held
      `,
    );
  });

  it('lets the newest attempt by start time win, whenever it is reported [V2] [V9]', () => {
    play(
      {},
      `
      sources protection=a,b
      submit A
      report A FAILURE by=a started=-5m
      states A=failed
      submit B C
      report B+C FAILURE by=a started=-5m
      states C=held
      report B+C SUCCESS by=a started=-10m      # an older attempt, delivered late
      ignored
      states C=held
      report B+C SUCCESS by=a started=-1m
      states C=testing
      report B+C FAILURE by=a started=-2m
      ignored
      states C=testing
      pass B+C by=b
      states C=passed
      `,
    );
  });

  it('keeps the result of one attempt against its own late or repeated reports [V2]', () => {
    play(
      {},
      `
      sources protection=a,b
      submit A
      report A QUEUED by=a started=-5m
      report A QUEUED by=a started=-5m
      ignored
      report A RUNNING by=a started=-5m
      report A SUCCESS by=a started=-5m
      report A FAILURE by=a started=-5m
      ignored
      report A RUNNING by=a started=-5m
      ignored
      report A QUEUED by=a started=-5m
      ignored
      states A=testing
      pass A by=b
      states A=merged
      `,
    );
  });

  it('does not go back from running to queued within one attempt [V2]', () => {
    play(
      {},
      'submit A\nreport A RUNNING\nreport A QUEUED\nignored\nreport A RUNNING\nignored\npass A\nstates A=merged',
    );
  });

  it('does not believe a start time far in the future, and a little clock skew does no harm [V2]', () => {
    play(
      {},
      `
      sources protection=a,b
      submit A
      report A RUNNING by=a started=9h       # would be the newest for ever
      report A SUCCESS by=a started=-1m
      pass A by=b
      states A=merged
      submit B
      report B RUNNING by=a started=4m
      report B SUCCESS by=a started=3m       # older than what is known
      ignored
      report B SUCCESS by=a started=4m
      pass B by=b
      states B=merged
      `,
    );
  });

  it('clears a failure while it is held when a newer attempt passes [V9]', () => {
    play(
      {},
      `
      submit A B
      report A+B FAILURE started=-5m
      states B=held
      report A+B RUNNING started=-1m
      states B=testing
      trail B TEST_RUN_REQUIRED_STATUS_FAILED TEST_RUN_STARTED
      candidates A=testing A+B=testing
      report A+B SUCCESS started=-1m
      states B=passed
      why B=TEST_RUN_PASSED
      pass A
      target M+A+B
      runs A A+B
      `,
    );
  });

  it('fails again when the newer attempt fails, and the failure is settled then [V9] [V5]', () => {
    play(
      {},
      `
      submit A B
      report A+B FAILURE started=-5m
      report A+B RUNNING started=-1m
      pass A
      states A=merged B=testing
      report B FAILURE started=-1m
      states B=failed
      `,
    );
  });

  it('starts over when the newer attempt of a held failure gives no answer [V9] [V3]', () => {
    play(
      {},
      'submit A B\nreport A+B FAILURE started=-5m\nreport A+B CANCELLED started=-1m\nstates B=testing\ntrail B TEST_RUN_INCONCLUSIVE TEST_RUN_STARTED\nruns A A+B A+B',
    );
  });

  it('does not clear a timeout [V9] [V1]', () => {
    play(
      { testingTimeoutMinutes: 30 },
      'submit A B\nwait 10m\nrestart A\nwait 20m\nstates B=held\npass A+B\nignored\nstates B=held\nwhy B=TEST_RUN_TIMEOUT',
    );
  });

  it('remembers every check that was reported, with the newest attempt of each [V2]', () => {
    const told = play(
      {},
      'submit A\nreport A RUNNING by=x started=-9m\nreport A ERROR by=x started=-3m\nreport A QUEUED by=y',
    );
    const checks = told.candidate('A').checks.map(({ name, status, conclusion }) => [name, status, conclusion]);
    assert.deepEqual(checks, [
      ['x', 'COMPLETED', 'ERROR'],
      ['y', 'QUEUED', undefined],
    ]);
  });
});

describe('results that come before the commit is built', () => {
  it('count once it is built: it passes at once [C21]', () => {
    play(
      {},
      `
      hold builds
      submit A
      pass A
      states A=testing
      release builds
      states A=merged
      `,
    );
  });

  it('count once it is built: it fails at once [C21]', () => {
    play({}, 'hold builds\nsubmit A\nfail A\nrelease builds\nstates A=failed\nchecks A=ci');
  });

  it('count together with those that come later [C21]', () => {
    play(
      {},
      `
      sources protection=a,b
      hold builds
      submit A
      pass A by=a
      release builds
      states A=testing
      pass A by=b
      states A=merged
      `,
    );
  });

  it('are worth what the newest attempt says [C21] [V2]', () => {
    play(
      {},
      `
      hold builds
      submit A
      report A SUCCESS started=-1m
      report A FAILURE started=-5m
      report A RUNNING started=-2m
      release builds
      states A=merged
      `,
    );
  });

  it('count only when the app that is required reported them [C21]', () => {
    play(
      {},
      `
      sources protection=ci@bot
      hold builds
      submit A
      pass A
      release builds
      states A=testing
      pass A by=ci@bot
      states A=merged
      `,
    );
  });

  it('count for nothing when another candidate takes the place of theirs [C21] [C11]', () => {
    play(
      {},
      `
      hold builds
      submit A
      pass A
      push A
      submit A
      release builds
      states A=testing
      `,
    );
  });

  it('are no answer where they say none: it is tried again [C21] [V3]', () => {
    play(
      {},
      'hold builds\nsubmit A\ncut A\nrelease builds\nstates A=testing\ntrail A TEST_RUN_INCONCLUSIVE TEST_RUN_STARTED',
    );
  });

  it('are judged by quarantine like any other [C21] [V12]', () => {
    play(
      { honorQuarantine: 'ON' },
      `
      hold builds
      submit A
      fail A
      release builds
      states A=testing
      waive A
      states A=merged
      `,
    );
  });

  it('count for nothing where the run of an equal tree is waited for: its own run asks again [C21] [C10]', () => {
    play(
      {},
      `
      empty B
      submit A
      hold builds
      submit B
      fail A+B
      release builds
      states AB=testing
      runs A
      cancel A
      states B=testing
      runs A B
      pass B
      states B=merged
      `,
    );
  });
});

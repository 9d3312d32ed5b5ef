import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play, story } from '../worlds/engine/story.ts';

describe('verdicts of required checks', () => {
  for (const conclusion of ['SUCCESS', 'NEUTRAL', 'SKIPPED']) {
    story(`takes ${conclusion} for a pass [V1]`)`
      submit A; report A ${conclusion} → A=merged; why A=MERGE_GRAPH_MERGE
    `;
  }

  for (const conclusion of ['FAILURE', 'ERROR', 'TIMED_OUT', 'ACTION_REQUIRED']) {
    story(`takes ${conclusion} for a failure [V22]`)`
      submit A; report A ${conclusion} → A=failed; why A=TEST_RUN_REQUIRED_STATUS_FAILED; checks A=ci
    `;
  }

  for (const conclusion of ['CANCELLED', 'STALE']) {
    story(`takes ${conclusion} for no answer: it is tried again, twice at most, and has then failed [V3]`)`
      submit A B; report A ${conclusion} → A=testing; trail A TEST_RUN_INCONCLUSIVE TEST_RUN_STARTED
                                         → path B waiting pending testing  # what is built on it is not restarted
                                         → runs A A+B A
      report A ${conclusion}             → A=testing; runs A A+B A A
      report A ${conclusion}             → A=failed B=testing; why A=TEST_RUN_REQUIRED_STATUS_FAILED
                                         → checks A=ci; runs A A+B A A B
    `;
  }

  story('takes a lost runner for no answer too [V3]')`
    submit A; lose A           → trail A TEST_RUN_INCONCLUSIVE TEST_RUN_STARTED
    report A CANCELLED; lose A → A=failed; why A=TEST_RUN_REQUIRED_STATUS_FAILED; runs A A A
  `;

  story('does not count what a restart of the server interrupts [V25]')`
    submit A; interrupt A; interrupt A; interrupt A; interrupt A → A=testing
    lose A; interrupt A; lose A → A=testing; runs A A A A A A A A
    lose A                      → A=failed
  `;

  story('passes after it was tried again, and begins to count anew in another candidate [V3]')`
    submit A B; cut A+B A+B → B=testing
    fail A                  → testing B  # another candidate: two more tries
    cut B B                 → B=testing
    pass B                  → B=merged
  `;

  story('waits for all required checks before it passes, and for none once one failed [V22] [V1]')`
    sources protection=a,b,c; submit A; pass A by=b
    report A RUNNING by=a; pass A by=c → A=testing
    pass A by=a                        → A=merged
    submit B; pass B by=a; fail B by=c → B=failed; checks B=c
  `;

  it('waits for the others when one gave no answer: one of them may fail for real [V3] [V1]', () => {
    play()`
      sources protection=a,b; submit A B; cut A by=a → A=testing; runs A A+B
      fail A by=b → A=failed; checks A=b
    `;
    play()`sources protection=a,b; submit A; cut A by=a; pass A by=b → A=testing; runs A A`;
  });

  story('does not care about checks that are not required [V1]')`
    submit A; fail A by=lint → A=testing
    cut A by=lint            → A=testing
    pass A                   → A=merged
  `;

  story('fails when the time for testing is over, by way of being held [V23] [V4]')`
    with testingTimeoutMinutes=30
    sources protection=a,b,c; submit A; wait 10m; submit B
    pass A by=b → wake 10m
    wait 19m    → A=testing
    wait 1m     → A=failed B=testing; why A=TEST_RUN_TIMEOUT; checks A=a,c; path A testing held failed; wake 30m
  `;

  story('counts the time from the start of the run, not of the entry [V23]')`
    with testingTimeoutMinutes=30
    hold builds; submit A; wait 1h → A=testing
    release builds                 → wake 30m
    wait 29m                       → A=testing
    wait 1m                        → A=failed
  `;

  story('waits for ever with a timeout of 0 [V23]')`
    with testingTimeoutMinutes=0
    submit A   → wake never
    wait 9000h → A=testing
    pass A     → A=merged
  `;

  story('holds a timed-out entry while one ahead is open, like any failure [V4]')`
    with testingTimeoutMinutes=30
    submit A B; wait 20m; restart A; wait 10m → A=testing B=held; why B=TEST_RUN_TIMEOUT
    pass A → A=merged B=failed
  `;
});

describe('reports that are repeated, late or out of order', () => {
  story('lets a pass be final [V1]')`
    submit A B; pause; pass A   → A=passed
    fail A                      → ignored
    report A RUNNING started=1m → ignored; A=passed
  `;

  story('takes the first COMPLETED report without start times [V2]')`
    submit A B; fail A+B → B=held
    pass A+B             → ignored
    fail A+B             → ignored
    report A+B RUNNING   → ignored
    report A+B QUEUED    → ignored; B=held
  `;

  story('lets the newest attempt by start time win, whenever it is reported [V2] [V9]')`
    sources protection=a,b; submit A
    report A FAILURE by=a started=-5m    → A=failed
    submit B C; report B+C FAILURE by=a started=-5m → C=held
    report B+C SUCCESS by=a started=-10m → ignored; C=held  # an older attempt, delivered late
    report B+C SUCCESS by=a started=-1m  → C=testing
    report B+C FAILURE by=a started=-2m  → ignored; C=testing
    pass B+C by=b                        → C=passed
  `;

  story('keeps the result of one attempt against its own late or repeated reports [V24]')`
    sources protection=a,b; submit A
    report A QUEUED by=a started=-5m
    report A QUEUED by=a started=-5m  → ignored
    report A RUNNING by=a started=-5m
    report A SUCCESS by=a started=-5m
    report A FAILURE by=a started=-5m → ignored
    report A RUNNING by=a started=-5m → ignored
    report A QUEUED by=a started=-5m  → ignored; A=testing
    pass A by=b                       → A=merged
  `;

  story('does not go back from running to queued within one attempt [V24]')`
    submit A; report A RUNNING; report A QUEUED → ignored
    report A RUNNING → ignored
    pass A           → A=merged
  `;

  story('does not believe a start time far in the future, and a little clock skew does no harm [V24]')`
    sources protection=a,b; submit A
    report A RUNNING by=a started=9h  # would be the newest for ever
    report A SUCCESS by=a started=-1m; pass A by=b → A=merged
    submit B; report B RUNNING by=a started=4m
    report B SUCCESS by=a started=3m → ignored  # older than what is known
    report B SUCCESS by=a started=4m; pass B by=b → B=merged
  `;

  story('clears a failure while it is held when a newer attempt passes [V9]')`
    submit A B; report A+B FAILURE started=-5m → B=held
    report A+B RUNNING started=-1m → B=testing; trail B TEST_RUN_REQUIRED_STATUS_FAILED TEST_RUN_STARTED
                                   → candidates A=testing A+B=testing
    report A+B SUCCESS started=-1m → B=passed; why B=TEST_RUN_PASSED
    pass A                         → target M+A+B; runs A A+B
  `;

  story('fails again when the newer attempt fails, and the failure is settled then [V26] [V5]')`
    submit A B; report A+B FAILURE started=-5m
    report A+B RUNNING started=-1m; pass A → A=merged B=testing
    report B FAILURE started=-1m           → B=failed
  `;

  story('starts over when the newer attempt of a held failure gives no answer [V26] [V3]')`
    submit A B; report A+B FAILURE started=-5m
    report A+B CANCELLED started=-1m → B=testing; trail B TEST_RUN_INCONCLUSIVE TEST_RUN_STARTED; runs A A+B A+B
  `;

  story('does not clear a timeout [V9] [V23]')`
    with testingTimeoutMinutes=30
    submit A B; wait 10m; restart A; wait 20m → B=held
    pass A+B → ignored; B=held; why B=TEST_RUN_TIMEOUT
  `;

  it('remembers every check that was reported, with the newest attempt of each [V2]', () => {
    const told = play()`
      submit A; report A RUNNING by=x started=-9m
      report A ERROR by=x started=-3m; report A QUEUED by=y
    `;
    const checks = told.candidate('A').checks.map(({ name, status, conclusion }) => [name, status, conclusion]);
    assert.deepEqual(checks, [
      ['x', 'COMPLETED', 'ERROR'],
      ['y', 'QUEUED', undefined],
    ]);
  });
});

describe('results that come before the commit is built', () => {
  story('count once it is built: it passes at once [C21]')`
    hold builds; submit A; pass A → A=testing
    release builds                → A=merged
  `;

  story('count once it is built: it fails at once [C21]')`
    hold builds; submit A; fail A; release builds → A=failed; checks A=ci
  `;

  story('count together with those that come later [C21]')`
    sources protection=a,b; hold builds; submit A; pass A by=a
    release builds → A=testing
    pass A by=b    → A=merged
  `;

  story('are worth what the newest attempt says [C21] [V2]')`
    hold builds; submit A; report A SUCCESS started=-1m
    report A FAILURE started=-5m; report A RUNNING started=-2m
    release builds → A=merged
  `;

  story('count only when the app that is required reported them [C21]')`
    sources protection=ci@bot; hold builds; submit A; pass A
    release builds   → A=testing
    pass A by=ci@bot → A=merged
  `;

  story('count for nothing when another candidate takes the place of theirs [C21] [C11]')`
    hold builds; submit A; pass A; push A; submit A; release builds → A=testing
  `;

  story('are no answer where they say none: it is tried again [C21] [V3]')`
    hold builds; submit A; cut A; release builds → A=testing; trail A TEST_RUN_INCONCLUSIVE TEST_RUN_STARTED
  `;

  story('are judged by quarantine like any other [C21] [V12]')`
    with honorQuarantine=ON
    hold builds; submit A; fail A; release builds → A=testing
    waive A → A=merged
  `;

  story('count for nothing where the run of an equal tree is waited for: its own run asks again [C32] [C10]')`
    empty B; submit A; hold builds; submit B; fail A+B
    release builds → AB=testing; runs A
    cancel A       → B=testing; runs A B
    pass B         → B=merged
  `;
});

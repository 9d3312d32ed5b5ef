import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { flakeChance, type Learned, NOTHING_LEARNED, withPass } from '../../src/engine/model/learned.ts';
import { listOf } from '../../src/lib/int-map.ts';
import { play, story } from '../worlds/engine/story.ts';

const OFF = { confirmFailures: 'AUTO' } as const;
const LANES = { ...OFF, mode: 'PARALLEL' } as const;
const PAIRS = { ...OFF, batch: true, batchingMinSize: 2 } as const;
const FOURS = { ...OFF, batch: true, batchingMinSize: 4 } as const;
const SKIP = { ...PAIRS, optimizationMode: 'BISECTION_SKIP_REDUNDANT_TESTS', bisectionConcurrency: 1 } as const;
const ADAPTIVE = { ...OFF, optimizationMode: 'ADAPTIVE' } as const;

describe('an entry that failed alone', () => {
  story('an entry that failed alone leaves the line, which goes on, and is tested by itself [V66]', OFF)`
    seasoned; submit A B C; fail A → A=held BC=testing; testing B B+C ~A
    pass B                         → A=held B=merged
  `;

  story('an entry that passes in a run of its own lands without another run of its tree [V66]', OFF)`
    submit A; fail A → A=held; testing ~A HEAD
    fail ~A          → A=held; testing ~A HEAD
    pass ~A          → A=merged; runs A HEAD ~A ~A
  `;

  story('an entry of a young queue is removed at its third failure [V66] [V70]', OFF)`
    submit A B; fail A; pass HEAD → A=held; testing B ~A
    fail ~A                       → A=held; testing B ~A
    fail ~A                       → A=failed; testing B; checks A=ci
  `;

  story('a timeout is confirmed like a failure, and a conflict needs no run [V66]', OFF)`
    with testingTimeoutMinutes=30
    conflict B main; submit B                         → B=failed
    seasoned; submit A; wait 30m                      → A=held; testing ~A HEAD
    pass HEAD; wait 30m                               → A=held; testing HEAD
    pass HEAD                                         → A=failed; why A=TEST_RUN_TIMEOUT
  `;
});

describe('failures that agree', () => {
  story('failures in different tests confirm nothing [V68]', OFF)`
    seasoned; submit A; fail A tests=t,s; fail ~A tests=u → A=held; testing ~A
    fail ~A tests=v,s                                     → A=failed
  `;

  story('failures of different checks confirm nothing [V68]', OFF)`
    with requiredStatuses=["ci","lint"]
    seasoned; submit A; fail A by=ci; fail ~A by=lint → A=held; testing ~A
    fail ~A by=lint                                   → A=failed
  `;

  story('failures by name are no failures in a test [V68]', OFF)`
    seasoned; submit A; fail A; fail ~A tests=t → A=held; testing ~A
  `;

  story('reports of a failure are waited for, and after 60 seconds the check counts by its name [V68]', OFF)`
    seasoned; submit A; report A FAILURE; wait 59999ms → A=held; testing nothing
    wait 1ms                                           → testing ~A
    report ~A FAILURE; wait 59999ms                    → testing nothing
    wait 1ms                                           → A=failed
  `;

  story('reports of a failure that come in time name its tests [V68]', OFF)`
    seasoned; submit A; report A FAILURE; wait 30000ms; deny ~A tests=t → testing ~A
    report ~A FAILURE; wait 30000ms; deny ~A tests=u                    → testing ~A
  `;

  story('reports are waited for though honorQuarantine is OFF [V68] [V14]', OFF)`
    with honorQuarantine=OFF
    seasoned; submit A; report A FAILURE → testing nothing
    deny ~A tests=t                      → testing ~A
  `;
});

describe('the number of failures', () => {
  it('a test without a record needs two runs of its own in a young queue, and one after 60 good runs [V67]', () => {
    assert.equal(failuresToRemove(NOTHING_LEARNED, 'tests=t'), 3);
    assert.equal(failuresToRemove(afterRuns(60), 'tests=t'), 2);
  });

  it('a test that fails in a tenth of all runs needs three [V67] [V69]', () => {
    assert.equal(failuresToRemove(afterRuns(100, 10), 'tests=t'), 4);
    assert.equal(failuresToRemove(afterRuns(100, 10), 'tests=t,u'), 2, 'the test that fails least decides');
  });

  it('a test that the branch does not know needs one [V67]', () => {
    assert.equal(failuresToRemove(NOTHING_LEARNED, 'new=t'), 2);
  });

  it('a failure without a test needs as many as flakes are likely [V70]', () => {
    assert.equal(failuresToRemove(NOTHING_LEARNED, ''), 3);
    assert.equal(failuresToRemove(afterRuns(60), ''), 2);
    assert.equal(failuresToRemove({ ...NOTHING_LEARNED, flakes: { hits: 0, seen: 20 } }, ''), 1);
  });

  it('a test that fails in more than a quarter of 20 runs decides nothing, and 5 runs end the matter [V71]', () => {
    const told = playWith(afterRuns(40, 2), 'submit A; fail A tests=t; fail ~A tests=t; fail ~A tests=t');
    told.play('fail ~A tests=t; fail ~A tests=t → A=held; testing ~A');
    told.play('fail ~A tests=t → A=failed; why A=TEST_RUN_UNDECIDED');
    assert.equal(failuresToRemove(afterRuns(15, 2), 'tests=t'), 8, 'too few runs say so');
  });

  it('an entry that fails in a different test each time leaves after 12 runs of its own [V71]', () => {
    const told = playWith(afterRuns(60), 'submit A; fail A tests=t0');
    for (let run = 1; run < 12; run += 1) told.play(`fail ~A tests=t${run} → A=held; testing ~A`);
    told.play('fail ~A tests=t12 → A=failed; why A=TEST_RUN_UNDECIDED');
  });

  it('a pass on top of what has not passed does not show how rare flakes are [V70]', () => {
    const told = play(ADAPTIVE)`with runCost=0.25; hold landings; submit A; submit B; pass A+B → AB=passed`;
    assert.deepEqual(told.queue.learned.flakes, NOTHING_LEARNED.flakes);
    told.play('pass A');
    assert.ok(flakeChance(told.queue.learned) < flakeChance(NOTHING_LEARNED));
  });
});

describe('a failure that counts', () => {
  story('a run that passes and was under test when it began and when it ended shows that CI worked [V72]', OFF)`
    seasoned; wait 16m; submit A B; wait 1m; fail A → A=held; testing B ~A
    wait 5m; fail ~A                                → A=held; testing B
    pass B                                          → A=failed B=merged
  `;

  story('the base is tested beside a run of its own that no other run is beside [V72]', OFF)`
    seasoned; wait 16m; submit A; fail A → A=held; testing ~A HEAD
    wait 5m; fail ~A                     → A=held; testing HEAD
    pass HEAD                            → A=failed
  `;

  story('the base is tested once more if its run passed too early to show how the other one ended [V72]', OFF)`
    seasoned; wait 16m; submit A; fail A       → testing ~A HEAD
    wait 5m; pass HEAD; wait 61000ms; fail ~A  → A=held; testing HEAD
    wait 5m; pass HEAD                         → A=failed
  `;

  story('a quarter of an hour is close enough [V72]', OFF)`
    submit B; pass B; seasoned; wait 15m; submit A; fail A → testing ~A
    wait 1m; fail ~A                                       → A=held; testing HEAD
    wait 1m; pass HEAD                                     → A=failed
  `;

  story('a run does not count if no run passed that was under test when it began [V72]', LANES)`
    seasoned; wait 16m; submit A[x] B[y]; wait 1m; fail A → testing B ~A
    wait 2m; fail B                                       → testing ~A ~B HEAD
    wait 8m; pass HEAD; fail ~A                           → A=held; testing ~B ~A
    wait 8m; fail ~A                                      → A=held; testing ~B HEAD
    wait 8m; pass HEAD                                    → A=failed
  `;

  story('an outage removes nobody: all runs fail, and those of the head [V72] [V73] [V16]', OFF)`
    submit A B; fail A B; fail ~A ~A ~B ~B → AB=held; testing HEAD
    fail HEAD                              → AB=pending; alarm RED_TARGET
  `;

  story('a pass of the head by a waiver is enough [V72] [V47]', OFF)`
    with honorQuarantine=ON
    seasoned; wait 16m; submit A; fail A; deny A; fail ~A; deny ~A → A=held; testing HEAD
    fail HEAD; waive HEAD                                          → A=failed; testing nothing
  `;

  story('a head that cannot be tested is not tested again and again [V72]', OFF)`
    seasoned; wait 16m; submit A; fail A ~A → A=held; testing HEAD
    unbuildable HEAD START_TEST_RUN_RETRY_EXHAUSTED; unbuildable HEAD START_TEST_RUN_RETRY_EXHAUSTED
    unbuildable HEAD START_TEST_RUN_RETRY_EXHAUSTED → testing ~A
    fail ~A                                         → A=failed; testing nothing
  `;
});

describe('a head that was never seen to pass', () => {
  story('a head that was never seen to pass is tested once, with the first failure on it [V73]', OFF)`
    submit A B; fail A → testing B ~A HEAD
    fail B             → testing ~A ~B HEAD
    pass HEAD          → testing ~A ~B
  `;

  story('a head that was never seen to pass is tested with the first failed batch [V73]', FOURS)`
    together A B C D; fail ABCD → testing ~AB ~AB+CD HEAD
  `;

  story('a head that passed by a waiver is not tested again within an hour [V73] [V47]', LANES)`
    with honorQuarantine=ON
    submit A[x] B[y]; fail A; deny A; fail HEAD; waive HEAD → testing B ~A
    fail B; deny B                                          → testing ~A ~B
  `;

  story('a head that landed as tested has passed [V73]', OFF)`
    submit A; pass A; submit B; fail B → testing ~B
  `;

  story('a head that passed in a try has passed [V82]', OFF)`
    tried ci; submit A; fail A → testing ~A
    fail ~A ~A                 → A=failed; runs A ~A ~A
  `;

  story('a try shows for 15 minutes that CI works [V82] [V72]', OFF)`
    tried ci; wait 16m; submit A; fail A → testing ~A HEAD
  `;

  story('a try of other checks than the required ones does not count [V82]', OFF)`
    tried lint; submit A; fail A → testing ~A HEAD
  `;

  story('a try of another head does not count, and neither does one before a push [V82]', OFF)`
    tried ci on=X; tried ci; foreign X; submit A; fail A → testing ~A HEAD
  `;
});

describe('searches in halves', () => {
  story('the culprit leaves the search for runs of its own, and the others go on [V66] [B13]', FOURS)`
    together A B C D; fail ABCD ~AB ~A; pass HEAD → A=held; testing ~BCD ~A
    fail ~A                                       → A=failed; testing ~BCD
    pass ~BCD                                     → BCD=merged
  `;

  story('the base is tested beside the last one of a search [V72]', PAIRS)`
    seasoned; wait 16m; together A B; fail AB → testing ~A ~A+B HEAD
  `;

  story('the failure of the group counts as the first, if it agrees [V66] [V68]', PAIRS)`
    seasoned; together A B; fail AB tests=t; pass ~A; fail ~A+B tests=u → B=held; testing ~A+B
    fail ~A+B tests=u                                                   → B=failed
  `;

  story('the failure of the group that agrees makes one run of its own enough [V66] [V68]', PAIRS)`
    seasoned; together A B; fail AB tests=t; pass ~A; fail ~A+B tests=t → B=failed
  `;

  story('no single culprit is derived without a run [V66] [B14]', SKIP)`
    seasoned; together A B; fail AB; pass ~A → A=merged; testing ~A+B
  `;
});

describe('an entry that needs one ahead', () => {
  story('an entry is tested again if one of its batch was ahead, was cleared and lands [K30]', PAIRS)`
    seasoned; together A B; fail AB tests=t; fail ~A tests=u → A=held; testing ~B ~A
    fail ~B tests=t                                          → B=held; testing ~A
    pass ~A                                                  → A=merged; testing ~B  # flakes are likelier now
    fail ~B tests=t                                          → B=testing; testing ~B  # on what landed
    pass ~B                                                  → B=merged; runs AB ~A ~A+B ~B ~A ~B ~B
  `;

  story('an entry that lands from behind changes nothing for an accused one [K30]', OFF)`
    seasoned; submit A B C; fail A; pass B; fail ~A → A=testing; testing C ~A
    pass C                                          → C=merged; testing ~A
    fail ~A                                         → A=failed
  `;
});

describe('an entry that was removed for tests', () => {
  story('it returns when each of its tests fails and passes on a tree without it [V79]', OFF)`
    seasoned; submit A; fail A tests=t,u; fail ~A tests=t,u → A=failed
    submit B; fail B tests=t; pass ~B                       → A=failed B=merged
    submit C; fail C tests=u; pass ~C                       → A=testing C=merged; why A=TEST_RUN_STARTED; testing A
  `;

  story('it returns once [V79]', OFF)`
    seasoned; submit A; fail A tests=t; fail ~A tests=t → A=failed
    submit B; fail B tests=t; pass ~B                   → A=testing B=merged
    fail A tests=u; fail ~A tests=u; fail ~A tests=u    → A=failed
    submit C; fail C tests=u; pass ~C                   → A=failed C=merged
  `;

  story('it stays removed after a day [V79]', OFF)`
    seasoned; submit A; fail A tests=t; fail ~A tests=t          → A=failed
    wait 24h; submit D; fail D tests=t; wait 1m; pass HEAD; pass ~D → A=failed D=merged
  `;

  story('it stays removed if it was pushed to [V79] [V18]', OFF)`
    seasoned; submit A; fail A tests=t; fail ~A tests=t; push A → A=failed
    submit B; fail B tests=t; pass ~B                           → A=failed B=merged
  `;
});

describe('a test that is flaky since an entry', () => {
  it('is told to the entry if it never failed in 100 runs [V80]', () => {
    assert.deepEqual(newFlakesOf(afterRuns(100), 'tests=t'), [['t'], ['t']]);
    assert.deepEqual(newFlakesOf(afterRuns(99), 'tests=t'), [[], []]);
    assert.deepEqual(newFlakesOf(afterRuns(100, 50), 'tests=t'), [[], []], 'it failed before');
  });

  it('is told to the entry if it came with it [V80]', () => {
    assert.deepEqual(newFlakesOf(NOTHING_LEARNED, 'new=t'), [['t'], ['t']]);
  });

  it('removes the entry if the queue wants that, but not while it is being landed [V81]', () => {
    const told = play({ ...OFF, newFlakes: 'REMOVE' })`
      seasoned; submit A B; fail A new=t; pass ~A → A=failed; why A=TEST_RUN_NEW_FLAKES; testing B
      pass B; submit A; pass A                    → AB=merged
    `;
    assert.equal(told.queue.newFlakes.length, 1);
    play(OFF)`
      hold landings; submit A; fail A new=t; pass ~A; set newFlakes=REMOVE → A=passed
      release landings                                                     → A=merged
    `;
  });

  it('is told to no entry of a batch [V80]', () => {
    const told = play(PAIRS)`seasoned; together A B; fail AB new=t; pass ~A; pass ~A+B → AB=merged`;
    assert.deepEqual(told.queue.newFlakes, []);
  });
});

describe('events during a confirmation', () => {
  story('a paused queue starts no run of its own, and no test of the head [V66] [V72] [V11]', OFF)`
    seasoned; wait 16m; submit A; pause; fail A → A=held; testing nothing
    resume                                      → testing ~A HEAD
    wait 1m; pass HEAD; wait 2m; pause; fail ~A → A=held; testing nothing
    resume                                      → testing HEAD
  `;

  story('an entry that is cancelled leaves with its runs [V66] [B9]', OFF)`
    seasoned; submit A B; fail A → testing B ~A
    cancel A                     → A=cancelled; testing B
  `;

  story('an entry that is pushed to or closed leaves with its runs [V66] [B9]', OFF)`
    seasoned; submit A B; fail A B → testing ~A ~B
    push A; close B                → AB=cancelled; testing nothing
  `;

  story('an entry whose tests are restarted begins anew in the line [V66]', OFF)`
    seasoned; submit A; fail A; restart A → A=testing; testing A
    fail A                                → A=held; testing ~A
  `;

  story('leaving AUTO removes an entry that is being confirmed [V66]', OFF)`
    seasoned; submit A B; fail A → testing B ~A
    set confirmFailures=NEVER    → A=failed; testing B
  `;

  story('leaving AUTO removes an entry that has no slot for its run [V66]', OFF)`
    with concurrency=1 bisectionConcurrency=0
    seasoned; submit A B; fail A; set confirmFailures=NEVER → A=failed; testing B
  `;

  story('an urgent entry takes the only slot from a confirmation, which waits for it [V66] [O6]', OFF)`
    with concurrency=1 bisectionConcurrency=0 batch=true batchingMinSize=2 batchingMaxWaitTimeMinutes=0
    seasoned; submit A; fail A → testing ~A
    submit B urgent            → A=held; testing B
    pass B                     → B=merged; testing ~A
  `;

  story('an urgent entry leaves the slots of confirmations alone that the line cannot use [V66] [O6]', OFF)`
    with concurrency=1 batch=true batchingMinSize=2 batchingMaxWaitTimeMinutes=0
    seasoned; submit A; fail A; submit C → testing C ~A
    submit B urgent                      → A=held; testing BC ~A
  `;

  story('a failure of the machine buys one more run, and has the head tested at once [V75]', OFF)`
    seasoned; wait 16m; submit A
    report A FAILURE exit=127                      → A=held; testing HEAD
    wait 1m                                        → A=held; testing ~A HEAD
    report ~A FAILURE exit=127; wait 1m; pass HEAD → A=held; testing ~A
    report ~A FAILURE exit=127; wait 1m            → A=failed; testing nothing
  `;

  story('a machine that fails the head too holds the queue, which is tested again after a minute [V75]', OFF)`
    seasoned; wait 16m; submit A
    report A FAILURE exit=127; wait 1m       → testing ~A HEAD
    report HEAD FAILURE exit=127             → A=pending; alarm RED_TARGET; wake 1m
  `;

  story('a failure that is held when the queue begins to confirm is confirmed [V66] [V6]', OFF)`
    with confirmFailures=NEVER pendingFailureDepth=1
    seasoned; submit A B; fail A                          → A=held; testing A+B
    set confirmFailures=AUTO; report A+B FAILURE; wait 1m → A=held; testing B ~A
  `;
});

function playWith(learned: Learned, text: string) {
  const told = play(OFF)`seasoned`;
  told.queue = { ...told.queue, learned };
  return told.play(text);
}

/** A fails once and passes: the tests that it is told, and those that nothing excuses for a while. */
function newFlakesOf(learned: Learned, failure: string): readonly (readonly string[])[] {
  const told = playWith(learned, `hold landings; submit A; fail A ${failure}; pass ~A → A=passed`);
  const [entry] = listOf(told.queue.entries);
  return [entry?.newFlakes ?? [], told.queue.newFlakes.map(({ id }) => id)];
}

/** As many good runs, with a failure of the test t in every so many. */
function afterRuns(runs: number, every = Number.POSITIVE_INFINITY): Learned {
  const numbers = Array.from({ length: runs }, (_, index) => index + 1);
  return numbers.reduce((learned, number) => {
    const flakes = number % every === 0 ? [['t']] : [];
    return withPass(learned, { flakes, isSettled: true, tookMs: undefined, isAgain: false });
  }, NOTHING_LEARNED);
}

/** How many failures in these tests remove an entry. */
function failuresToRemove(learned: Learned, tests: string): number {
  const told = playWith(learned, `submit A; fail A ${tests}`);
  for (let failures = 1; ; failures += 1) {
    if (told.underTest().includes('HEAD')) told.play('pass HEAD');
    if (told.stateOf('A') === 'FAILED') return failures;
    told.play(`fail ~A ${tests}`);
  }
}

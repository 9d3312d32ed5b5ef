import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explain } from '../../src/engine/explain.ts';
import { findEntry } from '../../src/engine/queue.ts';
import { play } from './scenario.ts';
import { numberOf } from './words.ts';

const PARALLEL = { mode: 'PARALLEL' } as const;

describe('lanes that touch one file', () => {
  it('count as overlapping after one could not be put beside the other [L4]', () => {
    play(
      PARALLEL,
      `
      submit A[x] B[y]
      pass A
      hold landings
      pass B
      refuse composition
      states B=testing
      submit C[x]
      testing B B+C
      release landings
      pass B
      states B=merged
      proof B=SAME_TREE
      `,
    );
  });
});

describe('a low priority', () => {
  it('counts as one level more each time it has waited so long, and never as urgent [O5]', () => {
    play(
      { priorityAgeingHours: 2, concurrency: 1, testingTimeoutMinutes: 0 },
      `
      submit U urgent
      submit A low
      submit B
      submit C high
      order U C B A
      wake 2h
      wait 2h
      submit D
      order U B C A D
      wait 2h
      order U A B C D
      `,
    );
  });

  it('waits for ever where nothing is set [O5]', () => {
    play(
      { concurrency: 1, testingTimeoutMinutes: 0 },
      'submit U\nsubmit A low\nwait 100h\nsubmit B\norder U B A\nwake never',
    );
  });

  it('falls back when ageing is switched off [O5]', () => {
    const told = play(
      { priorityAgeingHours: 1, concurrency: 1, testingTimeoutMinutes: 0 },
      'submit U\nsubmit A low\nwait 1h\nsubmit B\norder U A B',
    );
    const entry = findEntry(told.queue, numberOf('A'));
    assert.ok(entry !== undefined);
    assert.match(JSON.stringify(explain(told.queue, entry, told.now)), /counts as medium instead of low/);
    told.play('set priorityAgeingHours=0\norder U B A');
  });
});

describe('a check that is run again', () => {
  it('has its time for testing anew [V1]', () => {
    play(
      { testingTimeoutMinutes: 60, pendingFailureDepth: 1 },
      `
      submit A B
      report A FAILURE started=-1m
      states A=held
      wait 55m
      report A RUNNING started=-1m
      states A=testing
      wait 30m
      states A=testing
      report A SUCCESS started=-31m
      states A=merged
      `,
    );
  });

  it('opens its candidate again only where there is a slot [V9] [C3]', () => {
    const told = play(
      { concurrency: 2, pendingFailureDepth: 2 },
      `
      submit A B C
      report A FAILURE started=-1m
      testing A+B A+B+C
      report A RUNNING started=-0m
      states A=held
      testing A+B A+B+C
      `,
    );
    const entry = findEntry(told.queue, numberOf('A'));
    assert.ok(entry !== undefined);
    assert.match(JSON.stringify(explain(told.queue, entry, told.now)), /being run again/);
    told.play('pass A+B+C\ntesting A A+B\nstates A=testing\nreport A SUCCESS started=-0m\nstates A=merged');
  });

  it('blames nobody while it waits for a slot [V9] [V5]', () => {
    play(
      { concurrency: 1, pendingFailureDepth: 1 },
      `
      submit A B
      report A FAILURE started=-1m
      testing A+B
      report A RUNNING started=-0m
      fail A+B
      states A=testing B=held
      `,
    );
  });
});

describe('a landing', () => {
  it('by a vouch, while the branch is suspected, leaves what contains all of it as it is [C4] [V10]', () => {
    const told = play(
      { canOptimisticallyMerge: true, concurrency: 6 },
      `
      submit A B C D E
      fail A
      fail B
      fail C
      states C=held
      testing C+D C+D+E HEAD
      pass C+D
      states CD=merged E=testing
      testing E
      `,
    );
    assert.equal(told.runs.filter((run) => run === 'C+D+E').length, 1);
    assert.equal(told.runs.filter((run) => run === 'E').length, 0);
  });

  it('refuses a new head of what it lands, and takes it when it has ended [E3] [L7]', () => {
    const told = play({}, 'hold landings\nsubmit A\npass A\npush A\nsubmit A\nrefused PULL_REQUEST_LANDING');
    told.play('release landings\nstates A=merged\nsubmit A\nstates A=testing');
  });
});

describe('a plan is complete in one step', () => {
  it('lands what passes at once when the equal tree it waited for is given up [C10] [L1]', () => {
    // All but A change nothing. Y waits for X on the pushed head. The bisection proves the same tree on its older base.
    play(
      { ...PARALLEL, batch: true, batchingMinSize: 2, batchingMaxWaitTimeMinutes: 0, bisectionConcurrency: 1 },
      `
      empty B E X Y
      pause
      submit A[x] B[x]
      resume
      fail AB
      foreign E
      submit X[z]
      cancel A
      testing X ~B
      submit Y[w]
      runs AB ~A X ~B
      pass ~B
      states B=merged XY=testing
      cancel X
      states Y=merged
      runs AB ~A X ~B
      `,
    );
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explain } from '../../src/engine/explain.ts';
import { findEntry } from '../../src/engine/queue.ts';
import { play, story } from '../worlds/engine/story.ts';
import { numberOf } from '../worlds/engine/words.ts';

const PARALLEL = { mode: 'PARALLEL' } as const;

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
    assert.match(JSON.stringify(explain(told.queue, entry, told.now)), /being run again/);
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

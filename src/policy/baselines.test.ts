import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tell, workloadOf } from '../../test/worlds/engine/workload-words.ts';
import { runOptimisticWindow, runOracle, runSerial } from './baselines.ts';
import { entropyOf, measure } from './measure.ts';
import type { Workload } from './workload.ts';

/** A, B (broken) and C at once, D at 5. C breaks with A. */
const FOUR = workloadOf([{}, { isBroken: true }, { breaksWith: 1 }, { at: 5 }]);
const WINDOW = { start: 20, floor: 3 };

describe('the oracle', () => {
  it('lands each good change after one run of its own, and runs nothing else', () => {
    const outcome = runOracle(FOUR);
    assert.equal(tell(outcome.landedAt), '1@10 4@15');
    assert.equal(tell(outcome.removedAt), '2@0 3@0');
    assert.equal(outcome.runs, 2);
  });

  it('keeps the earlier one of two that cannot be merged together, unless that one is broken', () => {
    assert.equal(tell(runOracle(workloadOf([{}, { conflictsWith: 1 }])).landedAt), '1@10');
    assert.equal(tell(runOracle(workloadOf([{ isBroken: true }, { conflictsWith: 1 }])).landedAt), '2@10');
  });
});

describe('the serial queue', () => {
  it('tests one after the other on the head', () => {
    const outcome = runSerial(FOUR);
    assert.equal(tell(outcome.landedAt), '1@10 4@40');
    assert.equal(tell(outcome.removedAt), '2@20 3@30');
    assert.equal(outcome.runs, 4);
    assert.equal(outcome.restarts, 0);
  });

  it('needs no run to remove what cannot be merged', () => {
    const outcome = runSerial(workloadOf([{}, { conflictsWith: 1 }, {}]));
    assert.equal(tell(outcome.landedAt), '1@10 3@20');
    assert.equal(tell(outcome.removedAt), '2@10');
    assert.equal(outcome.runs, 2);
  });
});

describe('the optimistic window', () => {
  it('tests all at once, and again without those that fail', () => {
    // At 10 A lands; B fails, and C and D, built on B, fail or are cut off. D came at 5 and would have run until 15. C
    // runs again on A and fails at 20, because it breaks with A. D runs again on A+C at 10, is cut off at 20, and runs
    // alone until 30.
    const outcome = runOptimisticWindow(FOUR, WINDOW);
    assert.equal(tell(outcome.landedAt), '1@10 4@30');
    assert.equal(tell(outcome.removedAt), '2@10 3@20');
    assert.equal(outcome.runs, 4 + 2 + 1);
    assert.equal(outcome.restarts, 3);
    assert.equal(outcome.ciMs, (10 + 10 + 10 + 5 + 10 + 10 + 10) * 60_000);
  });

  it('starts no more than the window holds, which a removal halves and a landing widens', () => {
    // The window is 4. At 10 #1 fails; 2 to 4 are cut off and start again with a window of 2 (floor): 2 and 3. At 20
    // both land, the window is 4, and 4, 5, 6 finish together at 30.
    const changes = workloadOf([{ isBroken: true }, {}, {}, {}, {}, {}]);
    const outcome = runOptimisticWindow(changes, { start: 4, floor: 2 });
    assert.equal(tell(outcome.landedAt), '2@20 3@20 4@30 5@30 6@30');
    assert.equal(outcome.runs, 4 + 3 + 2);
  });

  it('holds a failure until all ahead is decided, and forgets it when one ahead fails', () => {
    // B breaks with A and is faster. It fails at 5, waits, and is tested again when A fails at 10.
    const outcome = runOptimisticWindow(workloadOf([{ isBroken: true }, { breaksWith: 1, takes: 5 }]), WINDOW);
    assert.equal(tell(outcome.removedAt), '1@10');
    assert.equal(tell(outcome.landedAt), '2@15');
  });
});

describe('measures', () => {
  it('are computed from the times of landings', () => {
    const played = { workload: FOUR, outcome: runSerial(FOUR) };
    assert.deepEqual(measure([played]), {
      pullRequests: 4,
      merged: 2,
      removed: 2,
      undecided: 0,
      mergedPerHour: 3,
      timeToLandMinutes: { p50: 10, p95: 35, p99: 35 },
      runs: 4,
      runsPerDecided: 1,
      ciHours: 0.67,
      probes: 0,
      restarts: 0,
      wronglyRemoved: 0,
      brokenLanded: 0,
      makespanHours: 0.67,
      holds: 0,
    });
  });

  it('a removal is wrong where nothing was wrong with it, and a landing where something was', () => {
    const score = (workload: Workload, landed: number[], removed: number[]) => {
      const at = (numbers: number[]) => new Map(numbers.map((number, index) => [number, index]));
      const outcome = { ...runSerial(workload), landedAt: at(landed), removedAt: at(removed) };
      const { wronglyRemoved, brokenLanded } = measure([{ workload, outcome }]);
      return `${wronglyRemoved} ${brokenLanded}`;
    };
    const pair = workloadOf([{}, { breaksWith: 1 }, { isBroken: true }]);
    assert.equal(score(pair, [1], [2, 3]), '0 0');
    assert.equal(score(pair, [2], [1, 3]), '0 0');
    assert.equal(score(pair, [], [1, 2, 3]), '2 0');
    assert.equal(score(pair, [1, 2, 3], []), '0 2');
    const needy = workloadOf([{}, { needs: 1 }]);
    assert.equal(score(needy, [1, 2], []), '0 0');
    assert.equal(score(needy, [1], [2]), '1 0');
    assert.equal(score(needy, [], [1, 2]), '1 0');
    assert.equal(score(needy, [2, 1], []), '0 1');
  });

  it('have the entropy of the failures', () => {
    assert.equal(entropyOf(0.5), 1);
    assert.equal(entropyOf(0.05).toFixed(3), '0.286');
    assert.deepEqual([entropyOf(0), entropyOf(1)], [0, 0]);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NOTHING_LEARNED } from '../../src/engine/model/learned.ts';
import type { Scenario } from '../worlds/engine/scenario.ts';
import { play } from '../worlds/engine/story.ts';

const ADAPTIVE = { optimizationMode: 'ADAPTIVE', concurrency: 1 } as const;
const BATCH = { batch: true, batchingMinSize: 2 } as const;

/** The decided entries as digits in the order of admission: 0 landed, 1 failed, a point for undecided. */
function outcomes({ queue }: Scenario): string {
  return queue.learned.outcomes.digits;
}

/** A flake adds one, and each other run only makes older ones count less. */
function hasSeenFlake({ queue }: Scenario): boolean {
  return queue.learned.flakes.hits > NOTHING_LEARNED.flakes.hits;
}

describe('the outcomes of entries', () => {
  it('a queue learns which entries landed or failed alone, whatever its settings are [K2]', () => {
    assert.equal(outcomes(play()`submit A B; fail A; pass B`), '10');
    assert.equal(outcomes(play(BATCH)`submit A B; fail AB; pass ~A; fail ~A+B`), '01');
    assert.equal(outcomes(play(ADAPTIVE)`together A B; fail AB ~A; pass HEAD; fail ~A; pass B`), '10');
  });

  it('a queue learns nothing from an accusation, and the failure when the accused entry is removed [K2] [K10]', () => {
    const told = play({ ...ADAPTIVE, concurrency: 3, runCost: 0.25 })`
      seasoned; together A B C D E F G; submit H; fail ~H ~H → H=held
    `;
    assert.equal(outcomes(told), '');
    told.play('pass ABCDEFG; fail ~H → H=failed');
    assert.equal(outcomes(told), '00000001');
  });

  it('a cancel, a conflict, a timeout and a direct merge teach nothing [K2]', () => {
    assert.equal(outcomes(play()`submit A; cancel A`), '');
    assert.equal(outcomes(play()`conflict A main; submit A → A=failed`), '');
    assert.equal(outcomes(play()`with testingTimeoutMinutes=30; submit A; wait 30m → A=failed`), '');
    assert.equal(outcomes(play()`with directMergeMode=ALWAYS; submit A uptodate → A=merged`), '');
  });

  it('a queue that holds learns nothing [K2] [V16]', () => {
    const told = play()`submit A B C; fail A B HEAD → alarm RED_TARGET`;
    assert.equal(outcomes(told), '11');
    told.play('pass C → C=merged; over RED_TARGET');
    assert.equal(outcomes(told), '11');
  });

  it('each decision makes older ones count 1% less [K2]', () => {
    const { all } = play()`submit A; fail A`.queue.learned;
    assert.equal(all.hits, 0.99 * NOTHING_LEARNED.all.hits + 1);
    assert.equal(all.seen, 0.99 * NOTHING_LEARNED.all.seen + 1);
  });

  it('an entry counts by the outcome of the one admitted before it, whichever is decided first [K2]', () => {
    const inOrder = play()`submit A B; fail A; pass B`.queue.learned.after;
    const lanes = play({ mode: 'PARALLEL' })`submit A[x] B[y]; pass B; fail A`.queue.learned.after;
    assert.deepEqual(inOrder, [
      { hits: 0, seen: 0 },
      { hits: 0, seen: 1 },
    ]);
    assert.deepEqual(lanes, inOrder);
  });
});

describe('flakes and durations', () => {
  it('a pass shows that failed runs of its own tree were flakes [K3]', () => {
    assert.ok(hasSeenFlake(play(ADAPTIVE)`together A B; fail AB; pass ~A ~A+B → AB=merged`));
    assert.ok(!hasSeenFlake(play()`hold landings; submit A B; fail A+B; pass A`));
  });

  it('timeouts, waived passes and passes that were taken over teach nothing [K3] [V47]', () => {
    const timedOut = play({ ...ADAPTIVE, testingTimeoutMinutes: 30 })`together A B; wait 30m; pass ~A ~A+B → AB=merged`;
    assert.ok(!hasSeenFlake(timedOut));
    const waived = play({ honorQuarantine: 'ON' })`submit A; wait 5m; fail A; waive A → A=merged`;
    assert.deepEqual(waived.queue.learned.flakes, NOTHING_LEARNED.flakes);
    assert.equal(waived.queue.learned.durationMs, undefined);
    const reused = play({ mode: 'PARALLEL' })`empty E; submit A[x] E[x]; pass A → AE=merged; runs A`;
    const alone = play()`submit A; pass A → A=merged`;
    assert.deepEqual(reused.queue.learned.flakes, alone.queue.learned.flakes);
  });

  it('the mean duration is that of runs that passed [K3]', () => {
    const told = play()`submit A; wait 10m; pass A; submit B; wait 20m; fail B; submit C; wait 20m; pass C → C=merged`;
    assert.equal(told.queue.learned.durationMs, 11 * 60_000);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { QueueSettings } from '../../src/engine/model/settings.ts';
import type { Scenario } from '../worlds/engine/scenario.ts';
import { play, story } from '../worlds/engine/story.ts';

/** A queue whose latest passed runs took this many minutes. */
function after(minutes: readonly number[], settings: Partial<QueueSettings> = {}): Scenario {
  const told = play(settings)``;
  const passSeconds = minutes.map((each) => each * 60);
  told.queue = { ...told.queue, learned: { ...told.queue.learned, passSeconds } };
  return told;
}

function times(count: number, minutes: number): number[] {
  return new Array<number>(count).fill(minutes);
}

/** The acts of this many pull requests, from A on, each of which passes in a minute on a target of its own. */
function quickPasses(count: number): string {
  const names = Array.from({ length: count }, (_, index) => String.fromCharCode(65 + index));
  return names.map((name) => `submit ${name}[${name}]; wait 1m; pass ${name}`).join('; ');
}

/** A second attempt of the check is under way. */
const AGAIN = 'report A RUNNING started=-5m; report A RUNNING started=0m';

describe('the automatic testing timeout', () => {
  it('is 300 minutes until 20 runs have passed, and then four times what they took [V23] [V77]', () => {
    const told = play()``;
    for (const name of 'ABCDEFGHIJKLMNOPQRS') told.play(`submit ${name}; wait 5m; pass ${name}`);
    told.play(`
      submit T → wake 300m
      wait 5m; pass T; submit U → wake 20m
      wait 19m → U=testing
      wait 1m  → U=failed; why U=TEST_RUN_TIMEOUT
    `);
    const [failed] = told.transitions.filter(({ to }) => to === 'FAILED');
    assert.deepEqual(failed?.because.timeout, { minutes: 20, isBegun: false, isAutomatic: true });
  });

  it('fails no run that was in time when its tests began, however fast the others become [V78]', () => {
    const told = after([30, 30, ...times(18, 1)], { mode: 'PARALLEL' });
    told.play(`
      submit Z[z] → wake 120m
      ${quickPasses(20)}
      submit Y[y] → ZY=testing; wake 10m  # Z has run for 20 minutes
      wait 10m    → Y=failed Z=testing; wake 90m
      wait 89m    → Z=testing
      wait 1m     → Z=failed; why Z=TEST_RUN_TIMEOUT
    `);
  });

  it('gives way to a number at once, and null leaves a run the timeout that it began with [V78]', () => {
    after(times(20, 5)).play(`
      submit A; wait 5m → wake 15m
      set testingTimeoutMinutes=12 → wake 7m
      set testingTimeoutMinutes=0 → wake never
      wait 10m; set testingTimeoutMinutes=null → A=testing; wake 5m
      wait 5m → A=failed
    `);
  });

  it('begins anew for a check that runs again [V23]', () => {
    after(times(20, 5)).play(`submit A; wait 19m; ${AGAIN}; wait 19m → A=testing; wake 1m`);
  });

  it('holds for runs of a search, of the head and of repairs, which count as well [V77]', () => {
    const batch = { batch: true, batchingMinSize: 2 };
    after(times(20, 5), batch).play('submit A B; wait 1m; fail AB → testing ~A ~A+B; wake 20m');
    const search = play(batch)`submit A B; wait 1m; fail AB; wait 3m; pass ~A → A=merged`;
    assert.deepEqual(search.queue.learned.passSeconds, [180]);
    const held = after(times(20, 5), { concurrency: 1 }).play(`
      submit A B C; fail A B → testing C HEAD; wake 20m
      pause; wait 2m; pass C HEAD
    `);
    assert.deepEqual(held.queue.learned.passSeconds.slice(19), [300, 120, 120]);
    const red = after(times(20, 5), { concurrency: 1 }).play(`
      submit A B C; fail A B HEAD C; wait 1m; submit D repair → testing !D
      wait 2m; pass !D → D=merged
    `);
    assert.deepEqual(red.queue.learned.passSeconds.slice(19), [300, 120]);
  });

  it('bounds how long a failure is held for those behind it [V6]', () => {
    after(times(20, 3), { pendingFailureDepth: 1 }).play(`
      submit A B; wait 1m; fail A; hold builds; restart B; wait 11m → A=held
      wait 1m → A=failed
    `);
  });

  it('learns from the latest 40 runs that passed at the first attempt [V77]', () => {
    const known = after(times(40, 7)).play('submit A; wait 20m; pass A');
    assert.deepEqual(known.queue.learned.passSeconds.slice(-2), [420, 1200]);
    assert.equal(known.queue.learned.passSeconds.length, 40);
    const again = play()`submit A; wait 9m; ${AGAIN}; pass A → A=merged`;
    assert.deepEqual(again.queue.learned.passSeconds, []);
  });
});

describe('a testing timeout that is set', () => {
  story('of 300 minutes is not automatic [S8]')`
    with testingTimeoutMinutes=300
    submit A → wake 300m
  `;
});

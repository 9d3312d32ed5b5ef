import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play } from '../../../test/worlds/engine/story.ts';
import { numberOf } from '../../../test/worlds/engine/words.ts';
import { chancesOf, confirmationsNeeded, failureChance, flakeChance, NOTHING_LEARNED } from './learned.ts';
import { findEntry } from './queue.ts';

const ONE = { optimizationMode: 'ADAPTIVE', concurrency: 1 } as const;

describe('a queue learns', () => {
  it('how often entries fail, and that failures follow each other [K2]', () => {
    const told = play(ONE)`
      seasoned; submit A; pass A; submit B; pass B; submit C; pass C
      submit D; fail D ~D; submit E; fail E ~E → DE=failed
    `;
    const { learned } = told.queue;
    assert.equal(learned.outcomes.digits, '00011');
    assert.ok(failureChance(learned, 1) > failureChance(learned, 0), 'after 1 of 3 landings, after 1 of 1 failures');
    assert.ok(failureChance(learned) > failureChance(NOTHING_LEARNED));
  });

  it('not from cancels or a red branch [K2]', () => {
    const told = play(ONE)`submit A B; cancel A; submit C; cancel B C`;
    assert.deepEqual(told.queue.learned, NOTHING_LEARNED);
  });

  it('how many failures are flakes, and how long a run takes [K3] [K4]', () => {
    const told = play(ONE)`submit A; wait 10m; fail A; pass ~A`;
    assert.ok(flakeChance(told.queue.learned) > flakeChance(NOTHING_LEARNED));
    const steady = play(ONE)`submit A; wait 10m; pass A; submit B; wait 20m; pass B`;
    assert.equal(steady.queue.learned.durationMs, 11 * 60_000);
  });

  it('how often a failure has to be confirmed [V70]', () => {
    const needed = (hits: number) => confirmationsNeeded({ ...NOTHING_LEARNED, flakes: { hits, seen: 1_000 } });
    assert.deepEqual([0, 1, 2, 25, 32, 99, 500].map(needed), [0, 0, 1, 1, 2, 2, 10]);
  });

  it('gives chances from the context of each entry [K2]', () => {
    const told = play(ONE)`seasoned; submit A; pass A; submit B; fail B ~B; together C D`;
    const entries = ['C', 'D'].flatMap((name) => findEntry(told.queue, numberOf(name)) ?? []);
    const { learned } = told.queue;
    assert.deepEqual(chancesOf(told.queue, entries), [failureChance(learned, 1), failureChance(learned, 0)]);
  });
});

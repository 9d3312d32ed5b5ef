import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adviseQuarantine, costOf, costsBy, type LostRun } from './cost-of-flakes.ts';

const HOUR = 3_600_000;

function lost(testIds: readonly string[], hours: number, of: Partial<LostRun> = {}, key = Math.random()): LostRun {
  const entries = [{ key: String(key), isRemoved: false, waitedMs: hours * HOUR }];
  return { testIds, ciMs: HOUR, isExcused: false, entries, ...of };
}

describe('the cost of flakes', () => {
  it('counts an entry once, as removed if one of its runs removed it [F67]', () => {
    const entry = (key: string, isRemoved: boolean) => ({ key, isRemoved, waitedMs: HOUR });
    const runs = [
      lost(['a'], 0, { entries: [entry('1', false), entry('2', false)] }),
      lost(['a'], 0, { entries: [entry('1', true)] }),
    ];
    assert.deepEqual(costOf(runs), { runs: 2, removed: 1, retested: 1, waitedMs: 3 * HOUR, ciMs: 2 * HOUR });
    assert.deepEqual(costOf([]), { runs: 0, removed: 0, retested: 0, waitedMs: 0, ciMs: 0 });
  });

  it('counts a run for each of its tests, and once for an owner of several [F67]', () => {
    const runs = [lost(['a', 'b'], 2), lost(['c'], 5)];
    const hours = (costs: ReturnType<typeof costsBy>) => costs.map(([key, { waitedMs }]) => [key, waitedMs / HOUR]);
    const byTest = costsBy(runs, (id) => [id]);
    assert.deepEqual(hours(byTest), [
      ['c', 5],
      ['a', 2],
      ['b', 2],
    ]);
    assert.deepEqual(hours(costsBy(runs, (id) => (id === 'c' ? [] : ['@web', `@${id}`]))), [
      ['@a', 2],
      ['@b', 2],
      ['@web', 2],
    ]);
  });

  it('advises the tests whose quarantine saves the most, three at most [F68]', () => {
    const runs = [lost(['a'], 1), lost(['b'], 5), lost(['c'], 2), lost(['d'], 4)];
    const advice = adviseQuarantine(runs);
    assert.deepEqual([advice?.testIds, advice?.saved.waitedMs], [['b', 'd', 'c'], 11 * HOUR]);
  });

  it('a run in which another test failed too is saved only by both [F68]', () => {
    const runs = [lost(['a', 'b'], 10), lost(['c'], 1), lost(['a', 'x', 'y', 'z'], 90)];
    const advice = adviseQuarantine(runs);
    assert.deepEqual([advice?.testIds, advice?.saved.waitedMs], [['a', 'b', 'c'], 11 * HOUR]);
    assert.equal(adviseQuarantine([lost(['a', 'b', 'c', 'd'], 9)]), undefined);
  });

  it('does not advise to quarantine tests that are quarantined', () => {
    assert.equal(adviseQuarantine([lost(['a'], 9, { isExcused: true })]), undefined);
  });
});

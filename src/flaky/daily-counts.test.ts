import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DAY_MS } from './core/detector.ts';
import { addCounts, countRuns, dropBefore, FIGURE_DAYS, lastDayOf, lastDays, sumCounts } from './daily-counts.ts';

const NOON = 20_000 * DAY_MS + DAY_MS / 2;
const pass = (startedAt: number, durationMs: number | null = 10) => ({
  conclusion: 'SUCCESS' as const,
  startedAt,
  durationMs,
});
const fail = (startedAt: number) => ({ conclusion: 'FAILURE' as const, startedAt, durationMs: 20 });

const anyRun = fc.record({
  conclusion: fc.constantFrom('SUCCESS' as const, 'FAILURE' as const, 'SKIPPED' as const),
  startedAt: fc.integer({ min: NOON - 40 * DAY_MS, max: NOON + DAY_MS }),
  durationMs: fc.option(fc.integer({ min: 0, max: 100_000 })),
});

describe('the count of runs by day', () => {
  it('counts runs, failures and durations on their day, and no skipped run [F61]', () => {
    const skipped = { ...pass(NOON), conclusion: 'SKIPPED' as const };
    const runs = [pass(NOON - DAY_MS), fail(NOON), pass(NOON, null), skipped];
    const counts = countRuns(runs, NOON);
    assert.deepEqual(counts, [19_999, 1, 0, 1, 10_000, 20_000, 2, 1, 1, 20_000]);
    assert.deepEqual(sumCounts(counts), { runs: 3, failures: 1, durationMs: 15 });
  });

  it('counts a run that starts after its arrival on the day of the arrival, and drops one older than 30 days [F61]', () => {
    const oldest = NOON - (FIGURE_DAYS - 1) * DAY_MS;
    assert.deepEqual(countRuns([pass(NOON + 5 * DAY_MS)], NOON), [20_000, 1, 0, 1, 10_000]);
    assert.deepEqual(countRuns([pass(oldest)], NOON), [20_000 - 29, 1, 0, 1, 10_000]);
    assert.deepEqual(countRuns([pass(oldest - DAY_MS)], NOON), []);
  });

  it('knows no duration where none was told, or an impossible one', () => {
    assert.equal(
      sumCounts(countRuns([pass(NOON, null), pass(NOON, Number.NaN), pass(NOON, -1)], NOON)).durationMs,
      null,
    );
    assert.deepEqual(sumCounts([]), { runs: 0, failures: 0, durationMs: null });
  });

  it('does not depend on how runs are split, or on their order', () => {
    const anyRuns = fc.array(anyRun, { maxLength: 30 });
    fc.assert(
      fc.property(anyRuns, anyRuns, (one, other) => {
        const whole = countRuns([...one, ...other], NOON);
        assert.deepEqual(addCounts(countRuns(one, NOON), countRuns(other, NOON)), whole);
        assert.deepEqual(addCounts(countRuns(other, NOON), countRuns(one, NOON)), whole);
      }),
    );
  });

  it('shows 30 days up to today, days without runs among them', () => {
    const counts = countRuns([fail(NOON - 2 * DAY_MS), pass(NOON)], NOON);
    const days = lastDays(counts, 20_000);
    assert.equal(days.length, 30);
    assert.deepEqual(days.slice(-3), [
      { day: 19_998, runs: 1, failures: 1 },
      { day: 19_999, runs: 0, failures: 0 },
      { day: 20_000, runs: 1, failures: 0 },
    ]);
    assert.equal(lastDayOf(counts), 20_000);
    assert.deepEqual(
      lastDays(counts, 20_040).filter(({ runs }) => runs > 0),
      [],
    );
    assert.deepEqual(dropBefore(counts, 19_999), [20_000, 1, 0, 1, 10_000]);
    assert.equal(dropBefore(counts, 19_998), counts);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countDays, dayOf, formatSparkline, isUnicodeTerminal } from './sparkline.ts';

const DAY = 86_400_000;
const LAST = Date.parse('2026-11-15T00:00:00Z');
const run = (daysAgo: number, conclusion: string) => ({
  conclusion,
  started_at: new Date(LAST - daysAgo * DAY + DAY / 2).toISOString(),
});

describe('the history of a test as bars [W7]', () => {
  it('counts the runs of each day, and leaves others and skipped ones out', () => {
    const runs = [
      run(0, 'SUCCESS'),
      run(0, 'FAILURE'),
      run(2, 'SUCCESS'),
      run(2, 'SKIPPED'),
      run(3, 'SUCCESS'),
      run(-1, 'FAILURE'),
    ];
    assert.deepEqual(countDays(runs, { days: 3, lastDayAt: LAST }), [
      { passes: 1, failures: 0 },
      { passes: 0, failures: 0 },
      { passes: 1, failures: 1 },
    ]);
    assert.equal(dayOf(LAST + DAY - 1), LAST);
  });

  const days = [
    { passes: 999, failures: 1 },
    { passes: 0, failures: 0 },
    ...Array.from({ length: 9 }, () => ({ passes: 250, failures: 250 })),
    { passes: 0, failures: 1 },
  ];

  it('has a column a day, the oldest first; what is rare is still seen', () => {
    assert.equal(
      formatSparkline(days, { lastDayAt: LAST, isUnicode: true }),
      '  runs    █·▄▄▄▄▄▄▄▄▄▁\n  failed  ▁·▄▄▄▄▄▄▄▄▄█\n          11-04  11-15\n',
    );
  });

  it('uses digits where the terminal shows only ASCII', () => {
    assert.equal(
      formatSparkline(days, { lastDayAt: LAST, isUnicode: false }),
      '  runs    9.5555555551\n  failed  1.5555555559\n          11-04  11-15\n',
    );
    assert.equal(isUnicodeTerminal({ LANG: 'C' }), false);
    assert.equal(isUnicodeTerminal({ LANG: 'C', LC_ALL: 'en_GB.utf8' }), true);
    assert.equal(isUnicodeTerminal({ TERM: 'linux', LANG: 'en_GB.UTF-8' }), false);
    assert.equal(isUnicodeTerminal({}), true);
  });
});

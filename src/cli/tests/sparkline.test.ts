import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatSparkline, isUnicodeTerminal } from './sparkline.ts';

describe('the history of a test as bars [W7]', () => {
  const daily = {
    first_day: '2026-11-04',
    runs: [1000, 0, ...Array.from({ length: 9 }, () => 500), 1],
    failures: [1, 0, ...Array.from({ length: 9 }, () => 250), 1],
  };

  it('has a column a day, the oldest first; what is rare is still seen', () => {
    assert.equal(
      formatSparkline(daily, true),
      '  runs    █·▄▄▄▄▄▄▄▄▄▁\n  failed  ▁·▄▄▄▄▄▄▄▄▄█\n          11-04  11-15\n',
    );
  });

  it('uses digits where the terminal shows only ASCII', () => {
    assert.equal(
      formatSparkline(daily, false),
      '  runs    9.5555555551\n  failed  1.5555555559\n          11-04  11-15\n',
    );
    assert.equal(isUnicodeTerminal({ LANG: 'C' }), false);
    assert.equal(isUnicodeTerminal({ LANG: 'C', LC_ALL: 'en_GB.utf8' }), true);
    assert.equal(isUnicodeTerminal({ TERM: 'linux', LANG: 'en_GB.UTF-8' }), false);
    assert.equal(isUnicodeTerminal({}), true);
  });
});

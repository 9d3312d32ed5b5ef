import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatBytes, formatHours, formatMinutes, formatShare, plural } from './number.ts';
import { formatShort } from './time.ts';

describe('numbers', () => {
  it('say that something is nothing, or all, only where it is', () => {
    assert.deepEqual([0, 0.0001, 0.036, 0.42, 0.9999, 1].map(formatShare), [
      '0 %',
      '< 0.1 %',
      '3.6 %',
      '42 %',
      '99 %',
      '100 %',
    ]);
    assert.deepEqual([0, 0.0001, 0.4, 3.21, 1240.4].map(formatHours), ['0 h', '360 ms', '24 min', '3.2 h', '1,240 h']);
  });

  it('have their unit', () => {
    assert.deepEqual([12, 8_603, 4_200_000].map(formatBytes), ['12 B', '8.6 kB', '4.2 MB']);
    assert.deepEqual([0, 0.2, 12.25, 12_000].map(formatMinutes), ['0 min', '12 s', '12.3 min', '12,000 min']);
    assert.deepEqual([plural(1, 'run'), plural(2_000, 'run')], ['1 run', '2,000 runs']);
    assert.deepEqual([12.4, 1_420, 42_000].map(formatShort), ['12 ms', '1.4 s', '42 s']);
  });
});

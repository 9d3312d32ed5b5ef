import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatClock, formatDuration, formatRelative } from './time.ts';

const MINUTE = 60_000;
const NOON = Date.UTC(2026, 8, 17, 12);

describe('time on the dashboard', () => {
  it('is told in its two largest units', () => {
    const lengths = [0, 999, 45_000, 12 * MINUTE, 65 * MINUTE, 120 * MINUTE, 26 * 60 * MINUTE, -5];
    const texts = lengths.map(formatDuration);
    assert.deepEqual(texts, ['0 s', '0 s', '45 s', '12 min', '1 h 5 min', '2 h', '1 d 2 h', '0 s']);
  });

  it('is told from now', () => {
    assert.equal(formatRelative(NOON - 2_000, NOON), 'just now');
    assert.equal(formatRelative(NOON - 12 * MINUTE, NOON), '12 min ago');
    assert.equal(formatRelative(NOON + 5 * MINUTE, NOON), 'in 5 min');
  });

  it('has a day only if that is another one', () => {
    assert.equal(formatClock(NOON - MINUTE, NOON, 'UTC'), '11:59:00');
    assert.equal(formatClock(NOON - 24 * 60 * MINUTE, NOON, 'UTC'), '16 Sept 12:00:00');
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseTimestamp } from './attribute-reader.ts';

describe('timestamps [J18]', () => {
  it('are what Date makes of them', () => {
    const dates = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(dates, (date) => {
        assert.equal(parseTimestamp(date.toISOString()), date.getTime());
        assert.equal(parseTimestamp(date.toISOString().slice(0, -1)), date.getTime());
        if (date.getUTCFullYear() >= 1000) {
          assert.equal(parseTimestamp(date.toUTCString()), Math.floor(date.getTime() / 1000) * 1000);
        }
      }),
    );
  });

  it('may have zones, fractions of any length, or no time', () => {
    const read = (text: string) => {
      const at = parseTimestamp(text);
      return at === null ? null : new Date(at).toISOString();
    };
    assert.equal(read('2026-07-01T10:00:00+02:00'), '2026-07-01T08:00:00.000Z');
    assert.equal(read('2026-07-01 10:00:00.123456789 -0330'), '2026-07-01T13:30:00.123Z');
    assert.equal(read('2026-07-01T10:00:00,5Z'), '2026-07-01T10:00:00.500Z');
    assert.equal(read('2026-07-01T10:00'), '2026-07-01T10:00:00.000Z');
    assert.equal(read(' 2026-07-01 '), '2026-07-01T00:00:00.000Z');
    assert.equal(read('1970-01-01T00:00:00Z'), '1970-01-01T00:00:00.000Z');
    assert.equal(read('2090-02-28T23:59:60Z'), '2090-03-01T00:00:00.000Z');
  });

  it('that are none are absent', () => {
    for (const text of [
      '',
      'now',
      '1751364000',
      '2026-02-29',
      '2026-13-01',
      '2026-00-10',
      '2026-01-01T24:00:00',
      '01/02/2026',
      '2026-01-01T10:00:00+99:00',
    ]) {
      assert.equal(parseTimestamp(text), null, text);
    }
  });
});

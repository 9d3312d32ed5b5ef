import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseInstant } from './core/arguments.ts';
import { describeFreeze, toFreeze } from './queue-freeze.ts';

/** A Saturday, 14:30 in Berlin. */
const NOW = Date.UTC(2026, 8, 19, 12, 30);
const OPTIONS = { name: 'f', timeZone: 'Europe/Berlin' };

describe('sluice queue freeze add [Q24]', () => {
  const cases: readonly [string, object, from: string, until: string][] = [
    [
      'the last weekend, which goes on',
      { from: 'fri 17:00', until: 'mon 08:00', weekly: true },
      '2026-09-18T17:00',
      '2026-09-21T08:00',
    ],
    ['the next weekend', { from: 'Friday 17:00', until: 'mon 8:00' }, '2026-09-25T17:00', '2026-09-28T08:00'],
    ['later today', { from: '15:00', until: '16:00' }, '2026-09-19T15:00', '2026-09-19T16:00'],
    ['tomorrow, over midnight', { from: '14:00', until: '2:00' }, '2026-09-20T14:00', '2026-09-21T02:00'],
    ['dates', { from: '2026-12-24T18:00', until: '2027-01-02 08:00' }, '2026-12-24T18:00', '2027-01-02T08:00'],
    [
      'a day in every week',
      { from: 'sat 14:30', until: 'sat 15:00', weekly: true },
      '2026-09-19T14:30',
      '2026-09-19T15:00',
    ],
  ];
  for (const [name, given, from, until] of cases) {
    it(`reads ${name}`, () => {
      const freeze = toFreeze({ ...OPTIONS, ...(given as { from: string; until: string }) }, NOW);
      assert.deepEqual([freeze.from, freeze.until], [from, until]);
    });
  }

  it('refuses what is no time and no time zone', () => {
    for (const from of ['soon', 'xyz 10:00', '24:00', '10:60', '2026-02-30T10:00', '']) {
      assert.throws(() => toFreeze({ ...OPTIONS, from, until: '12:00' }, NOW), /is no time/);
    }
    assert.throws(() => toFreeze({ ...OPTIONS, timeZone: 'Berlin', from: '1:00', until: '2:00' }, NOW), /no time zone/);
  });

  it('describes a freeze in one line', () => {
    const weekly = toFreeze({ ...OPTIONS, from: 'fri 17:00', until: 'mon 08:00', weekly: true }, NOW);
    assert.equal(describeFreeze(weekly), 'every week Fri 17:00 to Mon 08:00 (Europe/Berlin)');
    const once = toFreeze({ ...OPTIONS, from: '2026-12-24T18:00', until: '2027-01-02T08:00' }, NOW);
    assert.equal(describeFreeze(once), '2026-12-24 18:00 to 2027-01-02 08:00 (Europe/Berlin)');
  });
});

it('sluice queue pause --until 17:00 means the next time the clock here shows that [Q11]', () => {
  const soon = new Date(parseInstant('future')('17:00'));
  const distance = soon.getTime() - Date.now();
  assert.ok(distance > 0 && distance <= 25 * 3_600_000);
  assert.deepEqual([soon.getHours(), soon.getMinutes()], [17, 0]);
  assert.ok(Date.parse(parseInstant('past')('17:00')) <= Date.now());
  assert.throws(() => parseInstant('future')('25:00'));
});

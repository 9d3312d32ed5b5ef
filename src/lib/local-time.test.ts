import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatLocalTime, instantsOf, isTimeZone, localTimeAt, parseLocalTime } from './local-time.ts';

const instantIn = (zone: string, text: string) => {
  const { first, last } = instantsOf(zone, parseLocalTime(text) ?? Number.NaN);
  return [first, last].map((instant) => new Date(instant).toISOString().slice(0, 16));
};

describe('local times [Q16]', () => {
  const cases: readonly [string, zone: string, local: string, first: string, last?: string][] = [
    ['in winter', 'Europe/Berlin', '2026-12-24T18:00', '2026-12-24T17:00'],
    ['in summer', 'Europe/Berlin', '2026-06-24T18:00', '2026-06-24T16:00'],
    ['that do not exist stand for the jump', 'Europe/Berlin', '2027-03-28T02:30', '2027-03-28T01:00'],
    ['at the jump itself', 'Europe/Berlin', '2027-03-28T03:00', '2027-03-28T01:00'],
    ['that exist twice', 'Europe/Berlin', '2026-10-25T02:30', '2026-10-25T00:30', '2026-10-25T01:30'],
    ['in a zone with half hours', 'Asia/Kolkata', '2026-01-01T00:00', '2025-12-31T18:30'],
    ['set back by half an hour', 'Australia/Lord_Howe', '2026-04-05T01:45', '2026-04-04T14:45', '2026-04-04T15:15'],
    ['of a day that was left out', 'Pacific/Apia', '2011-12-30T12:00', '2011-12-30T10:00'],
    ['a day ahead of UTC', 'Pacific/Kiritimati', '2026-01-01T00:00', '2025-12-31T10:00'],
    ['west of UTC', 'America/Los_Angeles', '2026-11-01T01:30', '2026-11-01T08:30', '2026-11-01T09:30'],
  ];
  for (const [name, zone, local, first, last = first] of cases) {
    it(`${name}: ${zone} ${local}`, () => assert.deepEqual(instantIn(zone, local), [first, last]));
  }

  it('are read only if the day and the minute exist', () => {
    for (const text of ['2026-02-29T10:00', '2026-06-31T10:00', '2026-01-01T24:00', '2026-01-01T10:60', 'today', '']) {
      assert.equal(parseLocalTime(text), undefined, text);
    }
    assert.equal(formatLocalTime(parseLocalTime('2028-02-29T23:59') ?? 0), '2028-02-29T23:59');
  });

  it('have zones by their IANA names alone [Q14]', () => {
    assert.ok(['UTC', 'Europe/Berlin', 'america/new_york'].every(isTimeZone));
    assert.ok(!['', '+02:00', '-3', 'Europe/Atlantis', 'Berlin', '__proto__'].some(isTimeZone));
  });

  it('lead back to the instant that they were read at, in every zone', () => {
    const zone = fc.constantFrom('Europe/Berlin', 'America/St_Johns', 'Africa/Casablanca', 'Asia/Tehran', 'UTC');
    fc.assert(
      fc.property(zone, fc.integer({ min: 1_000_000_000, max: 2_000_000_000 }), (timeZone, seconds) => {
        const instant = seconds * 1_000;
        const { first, last } = instantsOf(timeZone, localTimeAt(timeZone, instant));
        assert.ok(instant === first || instant === last);
      }),
      { numRuns: 300 },
    );
  });
});

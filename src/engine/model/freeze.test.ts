import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { act, perform, settings } from '../../../test/worlds/engine/random-acts.ts';
import { NOON, Scenario } from '../../../test/worlds/engine/scenario.ts';
import { play, story } from '../../../test/worlds/engine/story.ts';
import { numberOf } from '../../../test/worlds/engine/words.ts';
import { formatLocalTime, localTimeAt } from '../../lib/local-time.ts';
import { explain } from '../../words/explain.ts';
import { step } from '../step.ts';
import { nextWakeAt } from '../wake.ts';
import { type Freeze, frozenAt, nextFreezeChangeAt, problemOfFreezes } from './freeze.ts';
import { findEntry } from './queue.ts';
import type { QueueSettings } from './settings.ts';

const FREEZE: Freeze = {
  name: 'release',
  from: '2026-09-17T13:00',
  until: '2026-09-17T15:00',
  timeZone: 'UTC',
  repeat: 'NONE',
  allowUrgent: false,
};
const WEEKEND: Freeze = {
  ...FREEZE,
  name: 'weekend',
  from: '2026-09-18T17:00',
  until: '2026-09-21T08:00',
  timeZone: 'Europe/Berlin',
  repeat: 'WEEKLY',
};
const HOUR = 3_600_000;
const at = (text: string) => Date.parse(`${text}Z`);
const FROZEN: Partial<QueueSettings> = { freezes: [FREEZE] };
const URGENT: Partial<QueueSettings> = { freezes: [{ ...FREEZE, allowUrgent: true }] };

describe('a freeze', () => {
  story('lands nothing, tests on, and lands when it ends [Q13] [Q18]', FROZEN)`
    with concurrency=2
    submit A B; wait 1h; pass A A+B → AB=passed; target M
    submit C                        → C=testing
    wait 119m                       → AB=passed; target M
    wait 1m                         → AB=merged; target M+A+B
  `;

  story('takes a landing back that has not begun, and plans it again [Q21] [L5]', FROZEN)`
    hold landers; submit A; pass A; wait 1h → A=passed
    release landers; wait 2h                → A=merged
  `;

  it('takes a landing back that begins before any timer has told of the freeze [Q21]', () => {
    const told = play(FROZEN)`hold landers; submit A; pass A`;
    const { landing } = told.queue;
    assert.ok(landing);
    told.now += 90 * 60_000;
    told.tell({ kind: 'landing_begun', at: told.now, candidate: landing.candidate });
    assert.equal(told.queue.landing, undefined);
    told.play('release landers; wait 2h → A=merged');
  });

  story('lets a landing end that has begun [Q21]', FROZEN)`
    hold landings; submit A B; pass A A+B; wait 1h; release landings → A=merged B=passed; target M+A
    wait 2h                                                         → B=merged
  `;

  story('keeps urgent entries too, if it does not allow them [Q19]', FROZEN)`
    wait 1h; submit A urgent; pass A → A=passed; target M
    wait 2h                          → A=merged
  `;

  story('lets urgent entries land alone, ahead of those that have passed [Q19] [Q20]', URGENT)`
    submit A; wait 1h; pass A   → A=passed
    submit U urgent; pass U     → U=merged A=testing; target M+U
    pass A                      → A=passed; target M+U
    wait 2h                     → A=merged; target M+U+A
  `;

  story('takes an urgent entry out of its batch [Q20]', { ...URGENT, batch: true, batchingMinSize: 3 })`
    pause; submit A; submit U urgent; submit B; resume → testing UAB
    wait 1h → testing U U+AB
    pass U  → U=merged AB=testing; target M+U
  `;

  story('moves an entry to the front that is made urgent in it [Q20]', URGENT)`
    submit A B; wait 1h; pass A → A=passed B=testing
    submit B urgent             → testing B B+A
    pass B                      → B=merged A=testing
  `;

  it('tests a pull request in the line that would have been merged directly [Q13]', () => {
    const told = play(FROZEN)`
      with directMergeMode=ALWAYS
      wait 1h; submit A uptodate → A=testing; runs A
    `;
    assert.equal(findEntry(told.queue, numberOf('A'))?.isDirectMergeSpent, false);
    play(FROZEN)`
      with directMergeMode=ALWAYS
      hold builds; submit A uptodate → A=waiting
      wait 1h                        → A=testing
    `;
  });

  story('goes on when a pause in it ends [Q13]', FROZEN)`
    submit A; pause; wait 1h; pass A → A=passed
    resume                           → A=passed; target M
    wait 2h                          → A=merged
  `;

  it('begins and ends with the settings [Q13]', () => {
    const told = play()`submit A`;
    told.now += HOUR;
    told.update(FROZEN);
    told.play('pass A → A=passed');
    assert.equal(told.queue.frozen?.until, at('2026-09-17T15:00'));
    told.update({ freezes: [] });
    told.play('→ A=merged');
  });

  it('says in each explanation when it ends [Q23]', () => {
    const told = play(FROZEN)`submit A B; wait 1h; pass A`;
    const explained = (name: string) => {
      const entry = findEntry(told.queue, numberOf(name));
      return entry && explain(told.queue, entry, told.now);
    };
    const passed = explained('A');
    assert.match(passed?.summary ?? '', /Passed; lands when the freeze ends.*frozen \(release\) since 13:00 UTC/);
    assert.match(passed?.next ?? '', /lands on main automatically when the freeze ends at 15:00 UTC\./);
    const tested = explained('B');
    assert.equal(tested?.reasons.at(-1)?.code, 'QUEUE_FROZEN');
    assert.match(
      tested?.next ?? '',
      /when all required checks have passed and when the freeze ends at 15:00 UTC, after #/,
    );
  });

  it('updates the page of every entry when it begins and when it ends [Q23]', () => {
    const told = play(FROZEN)`submit A B`;
    const queue = { ...told.queue, hasPages: true };
    const begun = step(queue, { kind: 'time_passed', at: at('2026-09-17T13:00') });
    const ended = step(begun.queue, { kind: 'time_passed', at: at('2026-09-17T15:00') });
    for (const { effects } of [begun, ended]) {
      assert.deepEqual(
        effects.map(({ kind }) => kind),
        ['update_page', 'update_page'],
      );
    }
    assert.equal(ended.queue.frozen, undefined);
  });

  it('is noted also if no server ran when it began [Q18]', () => {
    const told = play(FROZEN)`submit A`;
    assert.equal(nextWakeAt(told.queue, NOON), NOON + HOUR);
    assert.equal(nextWakeAt(told.queue, NOON + 90 * 60_000), NOON + 90 * 60_000);
  });
});

describe('the times of freezes', () => {
  it('of a weekly freeze keep their local times over daylight saving, midnight and the end of the week [Q15] [Q16]', () => {
    const frozen = (text: string) => frozenAt([WEEKEND], at(text));
    assert.equal(frozen('2026-09-18T14:59'), undefined);
    assert.deepEqual(frozen('2026-09-18T15:00'), {
      ...{ name: 'weekend', since: at('2026-09-18T15:00'), until: at('2026-09-21T06:00') },
      urgent: { name: 'weekend', since: at('2026-09-18T15:00'), until: at('2026-09-21T06:00') },
    });
    assert.equal(frozen('2026-09-21T06:00'), undefined);
    // Summer time ended in between: the same local times are an hour later in UTC.
    assert.equal(frozen('2026-10-24T12:00')?.since, at('2026-10-23T15:00'));
    assert.equal(frozen('2026-10-24T12:00')?.until, at('2026-10-26T07:00'));
    assert.equal(frozen('2036-12-27T12:00')?.until, at('2036-12-29T07:00'));
    assert.equal(frozen('2026-09-12T12:00'), undefined, 'it does not hold before its first week');
  });

  it('that overlap or follow each other are one, with the latest end [Q17]', () => {
    const longer = { ...FREEZE, name: 'longer', from: '2026-09-17T14:00', until: '2026-09-17T18:00' };
    const next = { ...FREEZE, name: 'next', from: '2026-09-17T18:00', until: '2026-09-17T20:00', allowUrgent: true };
    const freezes = [FREEZE, longer, next];
    const read = (text: string) => frozenAt(freezes, at(text));
    assert.deepEqual(
      [read('2026-09-17T13:30')?.name, read('2026-09-17T13:30')?.until],
      ['release', at('2026-09-17T20:00')],
    );
    assert.equal(read('2026-09-17T14:30')?.name, 'longer');
    assert.equal(read('2026-09-17T14:30')?.urgent?.until, at('2026-09-17T18:00'), 'urgent ones may land earlier');
    assert.equal(read('2026-09-17T19:00')?.urgent, undefined);
    assert.equal(nextFreezeChangeAt(freezes, at('2026-09-17T13:30')), at('2026-09-17T14:00'));
    assert.equal(nextFreezeChangeAt(freezes, at('2026-09-17T20:00')), undefined);
  });

  it('that cover every week name the end of the one that holds [Q17]', () => {
    const week = { ...WEEKEND, name: 'week', from: '2026-09-21T08:00', until: '2026-09-25T17:00' };
    assert.equal(frozenAt([WEEKEND, week], at('2026-09-22T00:00'))?.until, at('2026-09-25T15:00'));
  });

  it('of a freeze within an hour that is left out never hold [Q16]', () => {
    const lost = { ...FREEZE, from: '2027-03-28T02:10', until: '2027-03-28T02:50', timeZone: 'Europe/Berlin' };
    assert.equal(frozenAt([lost], at('2027-03-28T01:00')), undefined);
    assert.equal(nextFreezeChangeAt([lost], at('2027-03-27T00:00')), undefined);
  });

  const refused: readonly [string, unknown, RegExp][] = [
    ['no list', {}, /at most 100/],
    ['too many', Array.from({ length: 101 }, (_, index) => ({ ...FREEZE, name: `f${index}` })), /at most 100/],
    ['no freeze', [null], /must hold objects/],
    ['no name', [{ ...FREEZE, name: ' ' }], /a name of 1 to 100/],
    ['two of one name', [FREEZE, FREEZE], /two freezes named "release"/],
    ['an unknown zone', [{ ...FREEZE, timeZone: 'Mars/Base' }], /time zone "Mars\/Base" is unknown.*Europe\/Berlin/],
    ['an offset', [{ ...FREEZE, timeZone: '+02:00' }], /is unknown/],
    ['a day that does not exist', [{ ...FREEZE, from: '2026-02-30T10:00' }], /from is not a local time/],
    ['an instant', [{ ...FREEZE, until: '2026-02-03T10:00Z' }], /until is not a local time/],
    ['an end before the begin', [{ ...FREEZE, until: '2026-09-17T12:59' }], /until must be later/],
    ['no length', [{ ...FREEZE, until: FREEZE.from }], /until must be later/],
    ['a week that is never over', [{ ...WEEKEND, until: '2026-09-25T17:00' }], /a week or longer/],
    ['another repeat', [{ ...FREEZE, repeat: 'DAILY' }], /NONE, WEEKLY/],
    ['no word on urgent ones', [{ ...FREEZE, allowUrgent: undefined }], /allowUrgent must be/],
  ];
  for (const [name, value, sentence] of refused) {
    it(`are refused with a sentence: ${name} [Q14]`, () => assert.match(problemOfFreezes(value) ?? '', sentence));
  }
});

const MINUTE = 60_000;
const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe');
/** Around a change of the clocks in Europe and America. */
const SPAN = { from: at('2026-10-20T00:00'), days: 21 };

const freezes = fc.array(
  fc
    .record({
      timeZone: zone,
      start: fc.integer({ min: 0, max: SPAN.days * 1440 }),
      minutes: fc.integer({ min: 1, max: 10_000 }),
      allowUrgent: fc.boolean(),
      repeat: fc.constantFrom('NONE' as const, 'WEEKLY' as const),
    })
    .map(({ start, minutes, ...rest }, index = 0) => ({
      ...rest,
      name: `${start} ${minutes} ${index}`,
      from: formatLocalTime(SPAN.from + start * MINUTE),
      until: formatLocalTime(SPAN.from + (start + minutes) * MINUTE),
    })),
  { maxLength: 4 },
);

/** No minute of the two weeks after this instant is free. */
function isEndlessFrom(all: readonly Freeze[], instant: number): boolean {
  const minutes = Array.from({ length: 2 * 10_080 }, (_, index) => instant + index * MINUTE);
  return minutes.every((minute) => frozenAt(all, minute) !== undefined);
}

/** Asks the clock on the wall, minute by minute, instead of converting local times. */
function holdsByTheClock(freeze: Freeze, instant: number): boolean {
  const shown = formatLocalTime(localTimeAt(freeze.timeZone, instant));
  const weeks = freeze.repeat === 'WEEKLY' ? [0, 1, 2, 3, 4] : [0];
  const shift = (text: string, week: number) => formatLocalTime(Date.parse(`${text}Z`) + week * 168 * HOUR);
  return weeks.some((week) => shift(freeze.from, week) <= shown && shown < shift(freeze.until, week));
}

describe('any freezes', () => {
  it('hold when the clock on the wall says so, but for hours that it shows twice [Q13] [Q16]', () => {
    fc.assert(
      fc.property(freezes, fc.integer({ min: 0, max: SPAN.days * 1440 }), (all, minute) => {
        const instant = SPAN.from + minute * MINUTE;
        const isTwice = all.some(({ timeZone }) => {
          const shown = localTimeAt(timeZone, instant);
          return [-HOUR, HOUR, -HOUR / 2, HOUR / 2].some((ms) => localTimeAt(timeZone, instant + ms) === shown);
        });
        if (isTwice) return;
        assert.equal(
          frozenAt(all, instant) !== undefined,
          all.some((freeze) => holdsByTheClock(freeze, instant)),
        );
      }),
      { numRuns: 400 },
    );
  });

  it('hold the same until the next change, and end when they say [Q17] [Q18]', () => {
    fc.assert(
      fc.property(freezes, fc.integer({ min: 0, max: SPAN.days * 1440 }), (all, minute) => {
        const instant = SPAN.from + minute * MINUTE;
        const frozen = frozenAt(all, instant);
        const next = nextFreezeChangeAt([...all], instant);
        if (next !== undefined) {
          assert.ok(next > instant);
          assert.deepEqual(frozenAt([...all], next - 1), frozen);
        }
        if (frozen === undefined) return;
        assert.ok(frozenAt([...all], frozen.until) === undefined || isEndlessFrom(all, frozen.until));
        assert.ok(frozenAt([...all], frozen.until - 1) !== undefined);
      }),
      { numRuns: 200 },
    );
  });

  it('begin no landing of an entry that they keep, whatever happens, and lose none [Q13] [Q19] [Q20]', () => {
    const times = fc.array(
      fc.record({ start: fc.nat({ max: 600 }), minutes: fc.integer({ min: 1, max: 400 }), allowUrgent: fc.boolean() }),
      { maxLength: 3 },
    );
    fc.assert(
      fc.property(
        settings,
        times,
        fc.array(act, { minLength: 1, maxLength: 200, size: 'max' }),
        (chosen, all, acts) => {
          const given = all.map(({ start, minutes, allowUrgent }, index) => ({
            ...{ ...FREEZE, name: `f${index}`, allowUrgent },
            from: formatLocalTime(NOON + start * MINUTE),
            until: formatLocalTime(NOON + (start + minutes) * MINUTE),
          }));
          const told = new FreezeWitness({ ...chosen, freezes: given });
          for (const each of acts) perform(told, each);
        },
      ),
      { numRuns: 40 * Number(process.env.PROPERTY_RUNS ?? 1) },
    );
  });
});

/** Compares every landing that begins with the freezes, read by the clock on the wall. */
class FreezeWitness extends Scenario {
  override tell(...given: Parameters<Scenario['tell']>): ReturnType<Scenario['tell']> {
    const [event] = given;
    const before = this.queue;
    const told = super.tell(...given);
    const { landing } = this.queue;
    if (event.kind === 'landing_begun' && landing?.isBegun && before.landing?.isBegun !== true) {
      const holding = before.settings.freezes.filter((freeze) => holdsByTheClock(freeze, event.at));
      const numbers = [...this.candidates()].find(({ number }) => number === landing.candidate);
      for (const { prNumber } of [...(numbers?.beneath ?? []), ...(numbers?.members ?? [])]) {
        const entry = findEntry(before, prNumber);
        const isKept = holding.some(({ allowUrgent }) => !allowUrgent || (entry?.priority.value ?? 0) > 0);
        assert.ok(entry === undefined || !isKept, `#${prNumber} lands in a freeze`);
      }
    }
    return told;
  }
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createQueue } from '../engine/model/queue.ts';
import { DEFAULT_SETTINGS } from '../engine/model/settings.ts';
import { forecastText, unforeseeableText } from './forecast.ts';

const MINUTES = 60_000;

describe('the words of a forecast', () => {
  const TEXTS: readonly (readonly [number | undefined, number | undefined, number, string])[] = [
    [24, 41, 0.97, 'Lands in about 24 minutes (95%: within 41).'],
    [0.2, 1, 1, 'Lands in about 1 minute.'],
    [1, 9, 1, 'Lands in about 1 minute (95%: within 9 minutes).'],
    [-3, 2, 0.95, 'Lands in about 1 minute (95%: within 2 minutes).'],
    [80, 200, 0.64, 'Lands in about 80 minutes (95%: within 3.5 hours). Chance to land: 64%.'],
    [600, 4000, 0.9, 'Lands in about 10 hours (95%: within 3 days).'],
    [undefined, undefined, 0.004, 'It will hardly land (chance: 1%).'],
  ];
  for (const [p50, p95, chanceToLand, text] of TEXTS) {
    it(`${text} [Z4]`, () => {
      const at = (minutes: number | undefined) => (minutes === undefined ? undefined : 7 + minutes * MINUTES);
      assert.equal(forecastText({ landsAtP50: at(p50), landsAtP95: at(p95), chanceToLand }, 7), text);
    });
  }

  it('say why there is none [Z7]', () => {
    const queue = createQueue('main', DEFAULT_SETTINGS, 'PAUSED');
    assert.match(unforeseeableText(queue) ?? '', /is paused/);
    const ending = { ...queue, stateChange: { by: 'ada', at: 0, until: 9 }, head: undefined };
    assert.match(unforeseeableText(ending) ?? '', /not read yet/);
    assert.match(unforeseeableText({ ...ending, parked: { reason: '', since: 0 } }) ?? '', /is parked/);
  });
});

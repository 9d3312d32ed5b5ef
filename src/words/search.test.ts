import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { play } from '../../test/worlds/engine/story.ts';
import { numberOf } from '../../test/worlds/engine/words.ts';
import { findEntry } from '../engine/model/queue.ts';
import type { QueueSettings } from '../engine/model/settings.ts';
import { explain } from './explain.ts';

const ADAPTIVE = { optimizationMode: 'ADAPTIVE', concurrency: 4 } as const;
const ONE = { ...ADAPTIVE, concurrency: 1 };
const FAST = { ...ADAPTIVE, runCost: 0.25 };

describe('ADAPTIVE explains', () => {
  const codesOf = (settings: Partial<QueueSettings>, text: string, name: string) => {
    const told = play(settings)([text] as unknown as TemplateStringsArray);
    const entry = findEntry(told.queue, numberOf(name));
    assert.ok(entry !== undefined);
    return explain(told.queue, entry, told.now).reasons.map(({ code, text: words }) => `${code}: ${words}`);
  };

  for (const [name, settings, text, expected] of [
    ['H', FAST, 'together A B C D E F G; submit H', /^AHEAD_OF_TURN: It is tested ahead of its turn on main:/],
    ['C', ONE, 'together A B C D; fail ABCD', /^BISECTION: .* this pull request or #1, #2, #4\./],
    ['D', ONE, 'together A B C D; fail ABCD ~AB', /^BEHIND_CULPRIT: One of #1, #2 failed in a run with it/],
    [
      'A',
      ONE,
      'together A B C D; fail ABCD ~AB ~A',
      /^CONFIRMING: .* being confirmed: run 2 of 2, alone on main\. The queue is young/,
    ],
    [
      'H',
      FAST,
      'together A B C D E F G; submit H; fail ~H ~H ~H',
      /^ACCUSED: It failed 3 times .* and 4 more have landed/,
    ],
    [
      'E',
      { ...ADAPTIVE, runCost: 16 },
      'together A B C D; submit E',
      /^NOT_WORTH_A_RUN: A run now is worth 1\.1 waiting/,
    ],
    ['B', ADAPTIVE, 'submit A; wait 10m; pass A; submit B; submit C; wait 45m', /^OVERRUN: Its run takes much longer/],
  ] as const) {
    it(`${expected.source.split(':')[0]?.slice(1)} [K21]`, () => {
      const [first = ''] = codesOf(settings, text, name);
      assert.match(first, expected);
    });
  }
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Learned, NOTHING_LEARNED, withDecision } from '../engine/model/learned.ts';
import { policyOf } from '../engine/model/policy.ts';
import { DEFAULT_SETTINGS, SETTING_NAMES, type SettingName } from '../engine/model/settings.ts';
import { describeLearned, UNUSED_SETTINGS } from './learned.ts';

const settings = { ...DEFAULT_SETTINGS, optimizationMode: 'ADAPTIVE' } as const;

function textOf(learned: Partial<Learned>): string {
  return describeLearned({ learned: { ...NOTHING_LEARNED, ...learned }, settings }).text;
}

describe('the statistics of a queue in words', () => {
  it('say rates in whole numbers, and the size of groups that follows [K23]', () => {
    const told: Record<string, Partial<Learned>> = {
      '3 of 100 pull requests fail here. 1 of 20 runs fails by chance. Groups of about 23 are tested together.': {
        all: { hits: 3, seen: 100 },
      },
      '4 of 1000 pull requests fail here. Fewer than 1 of 1000 runs fail by chance. Groups of about 64 are tested together.':
        { all: { hits: 0.4, seen: 100 }, flakes: { hits: 0, seen: 100 } },
      '1 of 100 pull requests fails here. 1 of 3 runs fails by chance. Groups of about 64 are tested together.': {
        all: { hits: 1, seen: 100 },
        flakes: { hits: 30, seen: 100 },
      },
      '60 of 100 pull requests fail here. 1 of 20 runs fails by chance. Pull requests are tested one by one.': {
        all: { hits: 60, seen: 100 },
      },
    };
    for (const [text, learned] of Object.entries(told)) assert.equal(textOf(learned), text);
  });

  it('say that nothing is known before the first decision, and stop saying so after it [K23]', () => {
    assert.equal(textOf({}), 'Nothing is known about this queue yet.');
    const first = withDecision(NOTHING_LEARNED, { isCleared: false, admission: { ordinal: 1 } }, 0);
    assert.match(textOf(first), /^8 of 100 /);
  });

  it('name exactly the settings that ADAPTIVE replaces [K22]', () => {
    const odd = { ...settings, batch: true, batchingMinSize: 7, batchingMaxWaitTimeMinutes: 7 } as const;
    const given = { ...odd, bisectionConcurrency: 7, pendingFailureDepth: 7, canOptimisticallyMerge: false };
    const policy: Partial<Record<SettingName, unknown>> = policyOf({ settings: given });
    const replaced = SETTING_NAMES.filter((name) => name in policy && policy[name] !== given[name]);
    assert.deepEqual(replaced.toSorted(), UNUSED_SETTINGS.toSorted());
  });
});

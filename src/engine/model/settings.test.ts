import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkSettings, DEFAULT_SETTINGS, SETTING_NAMES } from './settings.ts';

describe('settings', () => {
  it('the defaults fit their own table [S1]', () => {
    assert.deepEqual(checkSettings({ ...DEFAULT_SETTINGS }), []);
    assert.deepEqual([...SETTING_NAMES].sort(), Object.keys(DEFAULT_SETTINGS).sort());
  });

  for (const [name, good, bad] of [
    ['concurrency', [1, 1000], [0, 1001, 1.5, '5', null, Number.NaN]],
    ['bisectionConcurrency', [0, 1000, null], [-1, 1001]],
    ['testingTimeoutMinutes', [0, 10080, null], [10081, -1]],
    ['pendingFailureDepth', [0, 1000], [1001]],
    ['batchingMinSize', [1, 1000], [0]],
    ['runCost', [0.1, 2.5, 100], [0, 0.09, 101, Number.NaN, Number.POSITIVE_INFINITY, '2', null]],
    ['maxGroupSize', [1, 1000], [0, 1.5]],
    ['mode', ['SINGLE', 'PARALLEL'], ['single', 'BOTH', 1]],
    ['batch', [true, false], ['true', 1]],
    [
      'requiredStatuses',
      [null, [], ['a', 'b'], ['a', { name: 'b', app: 'github-actions' }], [{ name: 'a', app: '15368' }]],
      [['a', { name: 'a', app: 'x' }], [{ name: 'a' }], [{ name: 'a', app: 'A b' }], [['a']], [null], [7]],
    ],
    ['requiredStatuses', [['a', 'b']], [['a', 'a'], [''], [' a'], 'a', Array.from({ length: 101 }, (_, i) => `n${i}`)]],
    ['failFastStatuses', [[], ['test (*)'], [{ name: '*', app: 'ci' }]], [null, ['a', 'a'], [{ name: 'a' }]]],
    ['allowedBotSubmitters', [[], ['bot']], [null]],
    ['enqueueingLabel', ['merge me'], ['', 'trunk-queued', 'sluice-merged', 'x'.repeat(101)]],
    [
      'batchingRules',
      [
        [],
        [
          { targetPattern: '//a/*', policy: 'ISOLATE' },
          { targetPattern: 'exact', policy: 'ISOLATE' },
        ],
      ],
      [
        [{ targetPattern: '*', policy: 'ISOLATE' }],
        [{ targetPattern: 'a*b', policy: 'ISOLATE' }],
        [{ targetPattern: 'a', policy: 'X' }],
        3,
        [3],
      ],
    ],
  ] as const) {
    it(`${name} accepts what is in range and nothing else [S2] [S6]`, () => {
      for (const value of good) assert.deepEqual(checkSettings({ [name]: value }), [], JSON.stringify(value));
      for (const value of bad) assert.equal(checkSettings({ [name]: value })[0]?.name, name, JSON.stringify(value));
    });
  }

  it('names every problem, unknown settings and inherited names included', () => {
    const problems = checkSettings({ concurrency: 0, nonsense: 1, toString: 2 });
    assert.deepEqual(
      problems.map((problem) => problem.name),
      ['concurrency', 'nonsense', 'toString'],
    );
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseMonitor, wireParameters } from './parse-monitor.ts';
import { seedMonitors } from './settings.ts';

const GIVEN = { id: 'm1', createdAt: 5 };
const FLAKY = { classify: 'flaky' };
const RATE = { activation_threshold: 0.5, window_hours: 24, minimum_sample_size: 10 };

function problemsOf(input: unknown): readonly string[] {
  const parsed = parseMonitor(input, GIVEN);
  return parsed.kind === 'refused' ? parsed.problems.map(({ path, message }) => `${path} ${message}`) : [];
}

const refused: readonly (readonly [string, unknown, readonly string[]])[] = [
  ['no object', 7, ['monitor must be an object']],
  [
    'an unknown type',
    { type: 'x' },
    [
      'monitor.type must be one of pass_on_retry, failure_rate, failure_count, new_test, skipped_test, slow_test, timeout_inflation',
    ],
  ],
  [
    'percent for a fraction, and whatever else is wrong',
    {
      type: 'failure_rate',
      enabled: 1,
      branches: [],
      action: FLAKY,
      parameters: { ...RATE, activation_threshold: 50, windw: 1 },
    },
    [
      'monitor.enabled must be true or false',
      'monitor.branches must be a list of 1 to 10 patterns',
      'monitor.parameters.windw is not a parameter of failure_rate: activation_threshold, resolution_threshold, window_hours, minimum_sample_size, stale_timeout_hours',
      'monitor.parameters.activation_threshold must be a number above 0 and at most 1, such as 0.9 for 90%',
    ],
  ],
  [
    'missing parameters',
    { type: 'failure_count', action: FLAKY },
    ['monitor.parameters.window_minutes is required', 'monitor.parameters.resolution_timeout_minutes is required'],
  ],
  [
    'a timeout shorter than the window',
    { type: 'failure_count', action: FLAKY, parameters: { window_minutes: 60, resolution_timeout_minutes: 59 } },
    ['monitor.parameters.resolution_timeout_minutes must be at least window_minutes'],
  ],
  [
    'a resolution above the activation',
    { type: 'failure_rate', action: FLAKY, parameters: { ...RATE, resolution_threshold: 0.6 } },
    ['monitor.parameters.resolution_threshold must not be above activation_threshold'],
  ],
  [
    'too many recovery days',
    { type: 'pass_on_retry', action: FLAKY, parameters: { recovery_days: 16 } },
    ['monitor.parameters.recovery_days must be a whole number from 1 to 15'],
  ],
  [
    'broken on retry',
    { type: 'pass_on_retry', action: { classify: 'BROKEN' } },
    ['monitor.action.classify must be FLAKY: a test that passes when it is tried again is not broken'],
  ],
  [
    'a lifecycle monitor that classifies',
    { type: 'new_test', action: FLAKY, parameters: { new_days: 7 } },
    ['monitor.action must have labels: new_test says nothing about health'],
  ],
  [
    'two actions',
    { type: 'pass_on_retry', action: { ...FLAKY, labels: ['x'] } },
    ['monitor.action must have exactly one of classify (FLAKY or BROKEN) and labels'],
  ],
  [
    'eleven patterns',
    { type: 'pass_on_retry', action: FLAKY, branches: Array.from({ length: 11 }, () => 'a') },
    ['monitor.branches must be a list of 1 to 10 patterns'],
  ],
];

describe('the parser of monitors', () => {
  for (const [name, input, problems] of refused) {
    it(`refuses ${name}, with a sentence [F8] [F43]`, () => assert.deepEqual(problemsOf(input), problems));
  }

  it('fills in defaults [F8]', () => {
    const parsed = parseMonitor({ type: 'failure_rate', action: FLAKY, parameters: RATE }, GIVEN);
    assert.deepEqual(parsed, {
      kind: 'monitor',
      monitor: {
        ...GIVEN,
        type: 'failure_rate',
        name: 'failure_rate',
        enabled: true,
        branches: ['*'],
        action: { kind: 'classify', status: 'FLAKY' },
        parameters: {
          activationThreshold: 0.5,
          resolutionThreshold: 0.5,
          windowHours: 24,
          minimumSampleSize: 10,
          staleTimeoutHours: null,
        },
      },
    });
    const labelled = parseMonitor({ type: 'timeout_inflation', action: { labels: ['Slow', 'Slow'] } }, GIVEN);
    assert.deepEqual(labelled.kind === 'monitor' && labelled.monitor.action, {
      kind: 'label',
      labels: ['Slow'],
      removeOnResolve: true,
    });
  });

  it('reads all five monitors of a new repository [F7]', () => {
    const ids = ['s1', 's2', 's3', 's4', 's5'];
    const seeds = seedMonitors(() => ids.shift() ?? '', 5);
    assert.deepEqual(
      seeds.map(({ id, type }) => `${id} ${type}`),
      ['s1 pass_on_retry', 's2 failure_count', 's3 failure_rate', 's4 new_test', 's5 skipped_test'],
    );
    for (const seed of seeds) {
      const { action, id, createdAt } = seed;
      const wireAction =
        action.kind === 'classify'
          ? { classify: action.status }
          : { labels: action.labels, remove_on_resolve: action.removeOnResolve };
      const wire = { ...seed, action: wireAction, parameters: wireParameters(seed) };
      assert.deepEqual(parseMonitor(wire, { id, createdAt }), { kind: 'monitor', monitor: seed });
    }
    const count = seeds.find(({ type }) => type === 'failure_count');
    assert.deepEqual(count && wireParameters(count), {
      failure_count: 5,
      window_minutes: 10_080,
      resolution_timeout_minutes: 10_080,
      passes_between: 1,
    });
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isBlockingRun, quarantineOf, reviewOf } from './quarantine.ts';

const DAY = 86_400_000;
const AT = 100 * DAY;
const always = { mode: 'ALWAYS_QUARANTINE', expiresAt: null } as const;
const never = { mode: 'NEVER_QUARANTINE', expiresAt: null } as const;
const on = { isEnabled: true, isAutomatic: true };
const manual = { isEnabled: true, isAutomatic: false };
const off = { isEnabled: false, isAutomatic: true };

const table = [
  ['FLAKY', null, on, 'AUTO_QUARANTINE'],
  ['HEALTHY', null, on, undefined],
  ['BROKEN', null, on, undefined],
  ['FLAKY', null, manual, undefined],
  ['FLAKY', never, on, undefined],
  ['HEALTHY', always, manual, 'ALWAYS_QUARANTINE'],
  ['BROKEN', always, on, 'ALWAYS_QUARANTINE'],
  ['FLAKY', always, off, undefined],
  ['FLAKY', null, off, undefined],
  ['HEALTHY', { ...always, expiresAt: AT }, manual, undefined],
  ['HEALTHY', { ...always, expiresAt: AT + 1 }, manual, 'ALWAYS_QUARANTINE'],
  ['FLAKY', { ...never, expiresAt: AT }, on, 'AUTO_QUARANTINE'],
] as const;

describe('quarantine', () => {
  for (const [status, override, settings, by] of table) {
    const words = `${override?.mode ?? 'no override'}, ${JSON.stringify(settings)}`;
    it(`${status}, ${words}: ${by ?? 'not quarantined'} [F21]`, () => {
      const state = quarantineOf(status, override, settings, AT);
      assert.equal(state.isQuarantined ? state.by : undefined, by);
      assert.match(state.reason, /\.$/);
    });
  }

  it('a failing run of an unhealthy test blocks, unless the test is quarantined', () => {
    assert.ok(isBlockingRun('FAILURE', { status: 'FLAKY', isQuarantined: false }));
    assert.ok(!isBlockingRun('FAILURE', { status: 'FLAKY', isQuarantined: true }));
    assert.ok(!isBlockingRun('FAILURE', { status: 'HEALTHY', isQuarantined: false }));
    assert.ok(!isBlockingRun('SUCCESS', { status: 'BROKEN', isQuarantined: false }));
  });

  it('names quarantined tests that always pass now, or no longer run [F22]', () => {
    const test = { quarantinedAt: AT - 20 * DAY, passes: 80, failures: 0, lastRunAt: AT - DAY };
    assert.equal(reviewOf(test, AT), 'ALWAYS_PASSES');
    assert.equal(reviewOf({ ...test, failures: 1 }, AT), undefined);
    assert.equal(reviewOf({ ...test, passes: 49 }, AT), undefined);
    assert.equal(reviewOf({ ...test, quarantinedAt: AT - DAY }, AT), undefined);
    assert.equal(reviewOf({ ...test, lastRunAt: AT - 15 * DAY }, AT), 'NEVER_RUNS');
    assert.equal(reviewOf({ ...test, passes: 0, lastRunAt: null }, AT), 'NEVER_RUNS');
  });
});

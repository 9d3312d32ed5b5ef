import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Check, verdictOfCheck, withReport } from './check.ts';

const START = 1_700_000_000_000;

function check(facts: Partial<Check> = {}): Check {
  return {
    name: 'ci',
    status: 'COMPLETED',
    conclusion: 'SUCCESS',
    startedAt: START,
    url: undefined,
    summary: undefined,
    reportedAt: START + 5_000,
    ...facts,
  };
}

const unconfirmed = check({ isUnconfirmed: true });
const after = (...reports: readonly Check[]) =>
  reports.reduce<readonly Check[]>((checks, report) => withReport(checks, report, true), []);

describe('an unconfirmed check', () => {
  it('decides nothing, and gives way to the same attempt once that is confirmed [G173]', () => {
    assert.equal(verdictOfCheck(unconfirmed), 'pending');
    assert.deepEqual(after(unconfirmed, check()), [check()]);
    const failed = check({ conclusion: 'FAILURE', startedAt: START + 1 });
    assert.deepEqual(after(unconfirmed, failed), [failed], 'the second status of one second');
  });

  it('stays when a read that began before it shows less [G173]', () => {
    const earlier = check({ status: 'QUEUED', conclusion: undefined, startedAt: START - 3_000 });
    assert.deepEqual(after(unconfirmed, earlier), [unconfirmed]);
    assert.deepEqual(after(unconfirmed, { ...earlier, startedAt: START }), [unconfirmed]);
  });

  it('replaces no confirmed result of its attempt, and is replaced by a newer attempt [G173]', () => {
    assert.deepEqual(after(check(), unconfirmed), [check()]);
    const [newest] = after(unconfirmed, check({ startedAt: START + 60_000, conclusion: 'FAILURE' }));
    assert.deepEqual([newest?.conclusion, newest?.isRepeated], ['FAILURE', true]);
  });
});

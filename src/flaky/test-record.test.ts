import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newTestState, type TestState } from './core/state.ts';
import { recordTest } from './test-record.ts';

const SEEN = 1_000;
const flaky: TestState = { ...newTestState(SEEN), status: 'FLAKY', statusReason: 'It flaps.', statusSince: 2_000 };
const automatic = { isEnabled: true, isAutomatic: true };
const common = { override: null, settings: automatic, quarantinedAt: null, at: 5_000, actor: null };

describe('the record of a test in lists', () => {
  it('a test never classified has its status since it was first seen', () => {
    const { record, event } = recordTest(newTestState(SEEN), common);
    assert.equal(record.status, 'HEALTHY');
    assert.equal(record.statusAt, SEEN);
    assert.equal(record.quarantinedAt, null);
    assert.equal(event, undefined);
  });

  it('quarantine begins now and is told, and an unchanged one keeps its beginning and is not told again', () => {
    const begun = recordTest(flaky, common);
    assert.equal(begun.record.quarantinedAt, 5_000);
    assert.deepEqual(begun.event, {
      kind: 'quarantine_changed',
      at: 5_000,
      actor: null,
      isQuarantined: true,
      reason: 'The test is flaky.',
    });
    const kept = recordTest(flaky, { ...common, quarantinedAt: 3_000 });
    assert.equal(kept.record.quarantinedAt, 3_000);
    assert.equal(kept.event, undefined);
  });

  it('quarantine that ends says why', () => {
    const settings = { isEnabled: false, isAutomatic: true };
    const { record, event } = recordTest(flaky, { ...common, settings, quarantinedAt: 3_000, actor: 'ann' });
    assert.equal(record.quarantinedAt, null);
    assert.equal(event?.isQuarantined, false);
    assert.equal(event?.actor, 'ann');
    assert.match(event?.reason ?? '', /switched off/);
  });
});

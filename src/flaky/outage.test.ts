import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isOutage } from './outage.ts';

const RELATIVE = { isEnabled: true, threshold: null };
const share = (failed: number, ran = 1_000) => ({ ran, failed });
const many = (counts: { readonly ran: number; readonly failed: number }, times = 11) =>
  Array.from({ length: times }, () => counts);

describe('an outage', () => {
  it('is an upload in which far more tests fail than usual [F17]', () => {
    assert.ok(isOutage(share(400), RELATIVE, many(share(5))));
    assert.ok(isOutage(share(160), RELATIVE, many(share(5))));
    assert.ok(!isOutage(share(140), RELATIVE, many(share(5))));
    assert.ok(!isOutage(share(400), RELATIVE, many(share(100))), 'four times what is usual');
    assert.ok(isOutage(share(950), RELATIVE, many(share(800))), 'nearly all of what usually passes');
  });

  it('is one also where no earlier upload says how many failures are usual [F17]', () => {
    assert.ok(isOutage(share(400), RELATIVE, []));
  });

  it('is none in a small suite, nor where few tests fail [F17]', () => {
    assert.ok(!isOutage(share(19, 19), RELATIVE, []));
    assert.ok(!isOutage(share(9, 20), RELATIVE, []));
    assert.ok(isOutage(share(10, 20), RELATIVE, []));
  });

  it('ends to be one when it has become usual [F52]', () => {
    const before = [...many(share(400), 5), ...many(share(0), 6)];
    assert.ok(isOutage(share(400), RELATIVE, before));
    assert.ok(!isOutage(share(400), RELATIVE, [...many(share(400), 6), ...many(share(0), 5)]));
  });

  it('with a threshold is an upload in which more than that fails, however few tests there are [F52]', () => {
    const protection = { isEnabled: true, threshold: 0.8 };
    assert.ok(isOutage(share(81, 100), protection, many(share(100, 100))));
    assert.ok(!isOutage(share(80, 100), protection, []));
    assert.ok(isOutage(share(1, 1), protection, []));
    assert.ok(!isOutage(share(0, 0), protection, []));
  });

  it('is none where its detection is disabled [F17]', () => {
    assert.ok(!isOutage(share(1_000), { isEnabled: false, threshold: null }, []));
    assert.ok(!isOutage(share(1_000), { isEnabled: false, threshold: 0.8 }, []));
  });
});

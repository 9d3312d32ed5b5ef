import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { listOf, listPrs, prName, timeOf } from './phrases.ts';

describe('phrases', () => {
  it('name a pull request by number and title, on one line and cut between letters', () => {
    assert.equal(prName({ prNumber: 2, title: 'Add\n a  cart' }), '#2 "Add a cart"');
    assert.equal(prName({ prNumber: 2, title: ' ' }), '#2');
    assert.equal(prName({ prNumber: 2, title: '😀'.repeat(61) }), `#2 "${'😀'.repeat(59)}…"`);
  });

  it('name some of many', () => {
    assert.equal(listOf(['a', 'b']), 'a, b');
    assert.equal(listOf(['a', 'b', 'c'], 2), 'a, b and 1 more');
    assert.equal(listPrs([{ prNumber: 1 }, { prNumber: 2, title: 'x' }]), '#1, #2 "x"');
  });

  it('name the day of an instant only if it is another one', () => {
    const noon = Date.UTC(2026, 8, 17, 12);
    assert.equal(timeOf(noon, noon), '12:00 UTC');
    assert.equal(timeOf(noon + 86_400_000, noon), '2026-09-18 12:00 UTC');
  });
});

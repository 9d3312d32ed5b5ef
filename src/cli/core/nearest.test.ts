import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nearest, proposal } from './nearest.ts';

describe('names that nearly match [W35]', () => {
  const known = ['local/acme/app', 'local/acme/api', 'github.com/acme/app', 'main', 'release'];
  for (const [wrong, expected] of [
    ['local/acme/ap', ['local/acme/app', 'local/acme/api']],
    ['local/amce/app', ['local/acme/app', 'local/acme/api']],
    ['Local/ACME/app', ['local/acme/app', 'local/acme/api']],
    ['mian', ['main']],
    ['relaese', ['release']],
    ['production', []],
    ['', []],
  ] as const) {
    it(`${wrong || 'an empty one'}: ${expected.join(', ') || 'none'}`, () => {
      assert.deepEqual(nearest(wrong, known), expected);
    });
  }

  it('are asked for in a sentence', () => {
    assert.equal(proposal('mian', known), ' Did you mean main?');
    assert.equal(proposal('nothing like it', known), '');
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { PageTokens } from './list-page.ts';

const DAY = 24 * 3_600_000;
const query = ['repository', ['failing', 1, 2], 25];
const position = { watermark: 7, pageIndex: 3, issuedAt: 1_000 };

describe('page tokens', () => {
  const tokens = new PageTokens(Buffer.alloc(32, 1));
  const token = tokens.make(query, position);

  it('come back as they were, on any server with the same key, for a day [P3]', () => {
    const elsewhere = new PageTokens(Buffer.alloc(32, 1));
    assert.deepEqual(elsewhere.parse(query, token, 1_000 + DAY), position);
    assert.equal(elsewhere.parse(query, token, 1_001 + DAY), undefined);
  });

  it('are none of another query, page size or key [P3]', () => {
    assert.equal(tokens.parse(['other', ['failing', 1, 2], 25], token, 1_000), undefined);
    assert.equal(tokens.parse(['repository', ['failing', 1, 2], 26], token, 1_000), undefined);
    assert.equal(new PageTokens(Buffer.alloc(32, 2)).parse(query, token, 1_000), undefined);
  });

  it('cannot be altered, cut, lengthened or made up [P3]', () => {
    for (const forged of [
      '',
      'x',
      token.slice(0, -1),
      `${token}A`,
      `${token}=`,
      ` ${token}`,
      'A'.repeat(token.length),
    ]) {
      assert.equal(tokens.parse(query, forged, 1_000), undefined, forged);
    }
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom('A', 'b', '7', '-'), (at, letter) => {
        const forged = token.slice(0, at) + letter + token.slice(at + 1);
        if (forged !== token) assert.equal(tokens.parse(query, forged, 1_000), undefined);
      }),
    );
  });
});

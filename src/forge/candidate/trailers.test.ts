import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { Sha } from '../../lib/sha.ts';
import { findOrigin, findProvenCandidate, formatOrigin, withTrailers } from './trailers.ts';

const add = (message: string, ...trailers: readonly string[]) =>
  withTrailers(Buffer.from(message), trailers).toString();

test('trailers join those that are there, and make a paragraph where there are none', () => {
  assert.equal(add('Title', 'A: b'), 'Title\n\nA: b\n');
  assert.equal(add('Title\n\nBody.\n\n\n', 'A: b'), 'Title\n\nBody.\n\nA: b\n');
  assert.equal(add('Title\n\nSigned-off-by: X <x>\n', 'A: b'), 'Title\n\nSigned-off-by: X <x>\nA: b\n');
  assert.equal(add('Fixes: it', 'A: b'), 'Fixes: it\n\nA: b\n');
  assert.equal(add('', 'A: b'), 'A: b\n');
  assert.equal(add('Title\n\nX: y\n  z\n', 'A: b'), 'Title\n\nX: y\n  z\nA: b\n');
  assert.equal(add('Title\n\n  code\n', 'A: b'), 'Title\n\n  code\n\nA: b\n');
  assert.equal(add('voil\u00e0', 'A: \u00e0'), 'voil\u00e0\n\nA: \u00e0\n');
});

test('lines like our own go, and a message without any stays as it is', () => {
  assert.equal(add('Title\n\nX: y\nSluice-Candidate: old\nsluice-pull-request: 9\n'), 'Title\n\nX: y\n');
  assert.equal(add('Title\n\nSluice-Candidate: old\n'), 'Title\n');
  assert.equal(add('Title  \n\n\n'), 'Title  \n\n\n');
});

test('an origin is read back, and from nowhere but the trailers', () => {
  const origin = { candidateId: 'f00', prNumber: 7 as PrNumber };
  const message = add('Title', ...formatOrigin(origin));
  assert.deepEqual(findOrigin(Buffer.from(message)), origin);
  assert.equal(findOrigin(Buffer.from('Sluice-Candidate: f00\n')), undefined);
  assert.equal(findOrigin(Buffer.from(`${message}\nSomething else\n`)), undefined);
  const odd = Buffer.from('Title\n\nSluice-Pull-Request: 1e3x\nSluice-Candidate: f00\n');
  assert.deepEqual(findOrigin(odd), { candidateId: 'f00', prNumber: undefined });
});

describe('the proof of a commit [L36]', () => {
  const signed = { key: new Uint8Array(32).fill(7), parent: 'a'.repeat(40) as Sha, tree: 'b'.repeat(40) as Sha };
  const origin = { candidateId: 'one', prNumber: 7 as PrNumber };
  const messageOf = (trailers: readonly string[]) => withTrailers(Buffer.from('Title\n'), trailers);

  it('a proof names the candidate to those who know the key', () => {
    assert.equal(findProvenCandidate(messageOf(formatOrigin(origin, signed)), signed), 'one');
  });

  it('a proof is of this candidate, pull request, parent and tree alone', () => {
    const message = messageOf(formatOrigin(origin, signed));
    const other = 'c'.repeat(40) as Sha;
    for (const change of [{ parent: other }, { tree: other }, { key: new Uint8Array(32) }]) {
      assert.equal(findProvenCandidate(message, { ...signed, ...change }), undefined);
    }
    for (const [from, to] of [
      ['Pull-Request: 7', 'Pull-Request: 8'],
      ['Candidate: one', 'Candidate: two'],
      ['Proof: ', 'Proof: 0'],
    ] as const) {
      const forged = Buffer.from(message.toString().replace(from, to));
      assert.equal(findProvenCandidate(forged, signed), undefined);
    }
    assert.equal(findProvenCandidate(messageOf(formatOrigin(origin)), signed), undefined);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PrNumber } from '../../engine/pull-request.ts';
import { findOrigin, formatOrigin, withTrailers } from './trailers.ts';

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

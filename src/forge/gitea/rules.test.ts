import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hashOf } from '../hosted/tree-hash.ts';
import { expand } from './facts.ts';
import { matchesContext } from './rules.ts';

const reports = (...names: readonly string[]) => names.map((name) => ({ name }) as never);

describe('the contexts of a protection', () => {
  it('contexts are patterns, in which a star matches slashes too [G162]', () => {
    assert.ok(matchesContext('ci/*', 'ci/linux/test'));
    assert.ok(matchesContext('t?st', 'test'));
    assert.ok(!matchesContext('ci', 'ci/x'));
    assert.deepEqual(expand(['ci/*', 'lint'], reports('ci/a', 'ci/b', 'other')), ['ci/a', 'ci/b', 'lint']);
  });

  it('a protection that names no context stands for all reported ones [G162]', () => {
    assert.deepEqual(expand([], reports('a', 'b')), ['a', 'b']);
  });
});

it('the id of a tree is computed as git does', () => {
  const file = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';
  const folder = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
  assert.equal(hashOf([]), folder);
  const entries = [
    { path: 'a.txt', mode: '100644', sha: file },
    { path: 'a', mode: '040000', sha: folder },
  ];
  assert.equal(hashOf(entries), hashOf(entries.toReversed()));
  assert.equal(hashOf([{ path: 'a.txt', mode: '100644', sha: file }]), '65a457425a679cbe9adf0d2741785d3ceabb44a7');
});

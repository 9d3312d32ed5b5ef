import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { memo } from './memo.ts';

describe('memo', () => {
  it('makes a value once for an object, and again for other arguments', () => {
    const made: string[] = [];
    const find = memo((key: { readonly name: string }, at: number) => made.push(`${key.name}${at}`));
    const [a, b] = [{ name: 'a' }, { name: 'b' }];
    assert.deepEqual([find(a, 1), find(a, 1), find(b, 1), find(a, 2), find(a, 2), find(a, 1)], [1, 1, 2, 3, 3, 4]);
    assert.deepEqual(made, ['a1', 'b1', 'a2', 'a1']);
  });

  it('compares the facts that it is told to compare', () => {
    let count = 0;
    const find = memo(
      (_key: object, _text: string) => ++count,
      (_key, text) => [text.length],
    );
    const key = {};
    assert.deepEqual([find(key, 'ab'), find(key, 'cd'), find(key, 'abc')], [1, 1, 2]);
  });
});

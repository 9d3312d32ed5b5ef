import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KeyReader, nextItem, takesText } from './keys.ts';

function press(...keys: readonly string[]) {
  const reader = new KeyReader();
  return keys.map((key, index) => reader.press({ key, at: index * 100, isModified: false }));
}

describe('keys', () => {
  it('ask for something alone, or two after each other', () => {
    assert.deepEqual(press('/', 'j', 'k', '?', 'x'), ['search', 'next', 'previous', 'help', undefined]);
    assert.deepEqual(press('g', 'q', 'g', 't', 'g', 'h'), [undefined, 'queue', undefined, 'tests', undefined, 'home']);
  });

  it('forget the first of two that were never completed', () => {
    assert.deepEqual(press('g', 'x', 'q'), [undefined, undefined, undefined]);
    assert.deepEqual(press('g', 'g', 'q'), [undefined, undefined, undefined]);
    const reader = new KeyReader();
    reader.press({ key: 'g', at: 0, isModified: false });
    assert.equal(reader.press({ key: 'q', at: 1_501, isModified: false }), undefined);
  });

  it('belong to the browser with Ctrl, Alt or Meta, and names of objects are no keys', () => {
    const reader = new KeyReader();
    assert.equal(reader.press({ key: 'k', at: 0, isModified: true }), undefined);
    assert.equal(reader.press({ key: 'toString', at: 0, isModified: false }), undefined);
  });

  it('are text in fields', () => {
    assert.equal(takesText({ tagName: 'INPUT', type: 'search' }), true);
    assert.equal(takesText({ tagName: 'SELECT' }), true);
    assert.equal(takesText({ tagName: 'DIV', isContentEditable: true }), true);
    assert.equal(takesText({ tagName: 'INPUT', type: 'range' }), false);
    assert.equal(takesText({ tagName: 'A' }), false);
  });
});

describe('the next item of a list', () => {
  it('is the first in view, then one after the other, up to both ends', () => {
    const tops = [-80, -28, 24, 76];
    assert.equal(nextItem(tops, -1, 1), 2);
    assert.equal(nextItem(tops, -1, -1), 2);
    assert.equal(nextItem(tops, 2, 1), 3);
    assert.equal(nextItem(tops, 3, 1), 3);
    assert.equal(nextItem(tops, 0, -1), 0);
    assert.equal(nextItem([-90, -30], -1, 1), 1);
    assert.equal(nextItem([], -1, 1), undefined);
  });
});

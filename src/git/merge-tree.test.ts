import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MergeTreeReader } from './merge-tree.ts';

const TREE = 'b'.repeat(40);

test('merges are read however they are cut into chunks', () => {
  const bytes = Buffer.from(`1\0${TREE}\0\0${`0\0${TREE}\0one\0two\nlines\0\0`}1\0${TREE}\0\0`);
  for (let size = 1; size <= bytes.length; size += 1) {
    const reader = new MergeTreeReader();
    const answers = [];
    for (let at = 0; at < bytes.length; at += size) answers.push(...reader.read(bytes.subarray(at, at + size)));
    assert.deepEqual(answers, [
      { kind: 'clean', tree: TREE },
      { kind: 'conflict', files: ['one', 'two\nlines'] },
      { kind: 'clean', tree: TREE },
    ]);
  }
});

test('an unknown answer is not guessed at', () => {
  assert.throws(() => new MergeTreeReader().read(Buffer.from('7\0')));
  assert.throws(() => new MergeTreeReader().read(Buffer.from('1\0no tree\0')));
});

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import { isBranchName } from './ref-name.ts';

const PIECES = [
  ...['a', 'B', '7', '/', '/', '.', '..', '-', '@', '@{', '{', '}', '.lock', 'lock', '~', '^', ':', '?', '*', '[', ']'],
  ...[
    '\\',
    ' ',
    '\t',
    '\x7f',
    '\x01',
    'é',
    '漢',
    '"',
    "'",
    ';',
    '$',
    '%',
    '#',
    '!',
    '+',
    '=',
    ',',
    '|',
    '&',
    '<',
    '>',
    '(',
    ')',
  ],
];

test('a branch name is what git check-ref-format takes', () => {
  const names = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(
      names.filter((name) => !name.startsWith('-')),
      (name) => {
        const { status } = spawnSync('git', ['check-ref-format', `refs/heads/${name}`]);
        assert.equal(isBranchName(name), status === 0, JSON.stringify(name));
      },
    ),
    { numRuns: 300 },
  );
});

test('names git could not be asked about are refused', () => {
  for (const name of ['', '-x', '--upload-pack=x', 'a\nb', 'a\0b', '\ud800', 'x'.repeat(201), 'é'.repeat(101)]) {
    assert.equal(isBranchName(name), false, JSON.stringify(name));
  }
  assert.equal(isBranchName('x'.repeat(200)), true);
});

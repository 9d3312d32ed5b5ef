import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { matchesStarred } from './starred.ts';

function matches(pattern: string, text: string, onStep?: () => void): boolean {
  const isStar = (piece: string) => piece === '*';
  const rules = { isStar, matches: (piece: string, part: string) => piece === part };
  return matchesStarred([...pattern], [...text], onStep === undefined ? rules : { ...rules, onStep });
}

describe('patterns with stars', () => {
  it('match all of the text, a star any number of its parts', () => {
    for (const [pattern, text] of [
      ['', ''],
      ['*', ''],
      ['**', 'a'],
      ['a*c', 'ac'],
      ['a*c', 'abcbc'],
      ['*b*', 'abc'],
    ] as const) {
      assert.ok(matches(pattern, text), `${pattern} ${text}`);
    }
    for (const [pattern, text] of [
      ['', 'a'],
      ['a', ''],
      ['a*c', 'acb'],
      ['a', 'ab'],
      ['*b', 'abc'],
    ] as const) {
      assert.ok(!matches(pattern, text), `${pattern} ${text}`);
    }
  });

  it('cost at most length times length, however hostile', () => {
    let steps = 0;
    const onStep = () => {
      steps += 1;
    };
    assert.ok(!matches(`${'*a'.repeat(50)}b`, 'a'.repeat(1_000), onStep));
    assert.ok(steps <= 101 * 1_000, `${steps} steps`);
  });
});

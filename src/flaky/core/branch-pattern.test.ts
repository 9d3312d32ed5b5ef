import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { matchesAnyBranch, matchesBranch } from './branch-pattern.ts';

const table: readonly (readonly [string, string, boolean])[] = [
  ['main', 'main', true],
  ['main', 'main2', false],
  ['main', 'Main', false],
  ['*', '', true],
  ['*', 'a/b/c', true],
  ['release/*', 'release/1/2', true],
  ['release/*', 'release', false],
  ['*-fix', 'a/b-fix', true],
  ['*-fix', 'a-fix-2', false],
  ['a*b*c', 'a-b-b-c', true],
  ['a*b*c', 'a-c-b', false],
  ['v?', 'v1', true],
  ['v?', 'v', false],
  ['v?', 'v12', false],
  ['v?', 'v😀', true],
  ['?*?', 'ab', true],
  ['?*?', 'a', false],
  ['a.b', 'axb', false],
  ['[ab]+(c)', '[ab]+(c)', true],
  ['', '', true],
  ['', 'a', false],
];

describe('branch patterns', () => {
  for (const [pattern, branch, matches] of table) {
    it(`${pattern} ${matches ? 'matches' : 'does not match'} ${branch} [F5]`, () => {
      assert.equal(matchesBranch(pattern, branch), matches);
    });
  }

  it('need one match among them, and are quick where they are hostile [F5]', () => {
    assert.ok(matchesAnyBranch(['dev', 'm*'], 'main'));
    assert.ok(!matchesAnyBranch([], 'main'));
    assert.ok(!matchesBranch(`${'*a'.repeat(127)}b`, 'a'.repeat(20_000)));
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseGlob } from './glob.ts';
import { matchesPath, mayMatchIn } from './path-pattern.ts';

function patternsOf(text: string) {
  const glob = parseGlob(text);
  return typeof glob === 'string' ? assert.fail(`${text} ${glob}`) : glob.patterns;
}

describe('a glob', () => {
  for (const [text, matched, others] of [
    ['*.xml', 'a.xml', 'b/a.xml .a.xml axml'],
    ['**/*.xml', 'a.xml b/a.xml b/c/a.xml', '.b/a.xml b/.c/a.xml b/.a.xml'],
    ['a/**', 'a/b a/b/c', 'a b/a a/.b'],
    ['**/.x/**/b', '.x/b a/.x/c/b .x/c/d/b', '.x/.x/b a/b .y/.x/b'],
    ['./a/./b?', 'a/bc', 'a/b a/bcd'],
    ['[a-c]x[!0-9]', 'axy cxz', 'dxy ax1 .xy'],
    ['{a,b/{c,d*}}/e', 'a/e b/c/e b/dx/e', 'b/e b/d'],
    ['a\\*\\{b\\}', 'a*{b}', 'axb a*b'],
    ['a[b', 'a[b', 'ab'],
    ['{a,}b', 'ab b', 'b/b'],
  ] as const) {
    it(`${text} matches ${matched}, and not ${others} [R47]`, () => {
      const patterns = patternsOf(text);
      const fits = (path: string) => patterns.some((one) => matchesPath(one, path.split('/'), { count: 0 }));
      for (const path of matched.split(' ')) assert.equal(fits(path), true, path);
      for (const path of others.split(' ')) assert.equal(fits(path), false, path);
      for (const path of matched.split(' ').filter((each) => each.includes('/'))) {
        const folder = path.split('/').slice(0, -1);
        assert.ok(
          patterns.some((one) => mayMatchIn(one, folder, { count: 0 })),
          path,
        );
      }
    });
  }

  for (const [text, problem] of [
    ['+(a|aa)+(a|aa)b', /parentheses/],
    ['a/!(b)', /parentheses/],
    ['!a', /begins with "!"/],
    ['[[:alpha:]]', /"\[:"/],
    ['{1..3}', /brace/],
    ['{a,b', /brace/],
    ['a}', /brace/],
    ['{a,b}'.repeat(6), /more than 50 patterns/],
    ['{a,b}'.repeat(49), /more than 50 patterns/],
    ['{a,a}'.repeat(22), /more than 50 patterns/],
    ['*a'.repeat(11), /more than 10 stars/],
    ['a'.repeat(251), /longer than 250/],
  ] as const) {
    it(`${text.slice(0, 40)} is refused with a reason [R47]`, () => assert.match(String(parseGlob(text)), problem));
  }

  it('of any characters takes no more steps than pattern length x path length [R49]', () => {
    const hostile = ['**/*a*a*a*a*a*b', '{**/,}*?*?*?*?*?*?*?*?*?b', '*[!b]*[!b]*[!b]*c', '**/a/**/a/**/a/**/b'];
    const paths = ['a'.repeat(255), 'a/'.repeat(2_000).slice(0, -1), `${'a'.repeat(200)}/`.repeat(20).slice(0, -1)];
    for (const text of hostile) {
      for (const path of paths) {
        const steps = { count: 0 };
        const patterns = patternsOf(text);
        assert.ok(!patterns.some((one) => matchesPath(one, path.split('/'), steps)), text);
        assert.ok(steps.count <= 4 * patterns.length * text.length * path.length, `${text} took ${steps.count} steps`);
      }
    }
  });
});

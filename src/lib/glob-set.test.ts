import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseGlob } from './glob.ts';
import { GlobSet } from './glob-set.ts';
import { matchesPath } from './path-pattern.ts';

describe('a set of globs', () => {
  it('[T9] matches as each glob alone does', () => {
    const name = fc.stringMatching(/^[ab]{1,3}$/);
    const piece = fc.oneof(name, fc.constantFrom('*', '**', 'a*', '*b', 'a*b', '?', '[ab]', '*a*b*', 'a{a,b}'));
    const glob = fc.array(piece, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
    const path = fc.array(name, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(glob, { maxLength: 6 }), fc.array(path, { maxLength: 6 }), (globs, paths) => {
        const set = new GlobSet<string>();
        const parsed = [...new Set(globs)].map((text) => ({ text, glob: parseGlob(text) }));
        for (const { text, glob: one } of parsed) if (typeof one !== 'string') set.add(one, text);
        for (const segments of paths) {
          const alone = parsed.filter(
            ({ glob: one }) =>
              typeof one !== 'string' && one.patterns.some((each) => matchesPath(each, segments, { count: 0 })),
          );
          assert.deepEqual([...set.match(segments.join('/'))].sort(), alone.map(({ text }) => text).sort());
        }
      }),
    );
  });

  it('[T9] takes linear time for hostile patterns', () => {
    const set = new GlobSet<number>();
    for (let index = 0; index < 100; index += 1) {
      const glob = parseGlob(`${'**/a*a*/'.repeat(3)}${index}`);
      assert.ok(typeof glob !== 'string');
      set.add(glob, index);
    }
    const startedAt = performance.now();
    assert.deepEqual(set.match(`${`${'a'.repeat(200)}/`.repeat(200)}b`), []);
    assert.ok(performance.now() - startedAt < 2_000);
  });
});

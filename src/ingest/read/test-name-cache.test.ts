import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createTestIds } from '../../flaky/identity/test-id.ts';
import { createTestNameCache } from './test-name-cache.ts';

const SCOPE = { org: 'acme', repository: { host: 'github.com', owner: 'acme', name: 'widgets' }, variant: '' };
const NAMES = { file: 'f', classname: 'c', parent: 'p', name: 'n', infoId: '' };

describe('the cache of names', () => {
  it('answers the ids of names, whatever was asked before and however small it is [U1]', () => {
    const text = fc.constantFrom('', 'a', 'ab', 'b', '1:a', '\0', '\ud800', 'trunk:x', 'ä');
    const names = fc.record({ file: text, classname: text, parent: text, name: text, infoId: text });
    const variant = fc.constantFrom('', 'linux');
    fc.assert(
      fc.property(fc.array(fc.tuple(names, variant), { maxLength: 60 }), (asked) => {
        const cache = createTestNameCache({ maxNames: 5, maxChars: 10_000 });
        const open = { '': cache.of(SCOPE), linux: cache.of({ ...SCOPE, variant: 'linux' }) };
        for (const [test, of] of asked) {
          const expected = createTestIds({ ...SCOPE, variant: of })(test);
          assert.equal(open[of as keyof typeof open](test).testId, expected);
        }
      }),
    );
  });

  it('answers the same object for the same names, over uploads', () => {
    const cache = createTestNameCache();
    const first = cache.of(SCOPE)(NAMES);
    assert.equal(cache.of(SCOPE)({ ...NAMES }), first);
    assert.notEqual(cache.of({ ...SCOPE, variant: 'x' })(NAMES), first);
  });

  it('forgets what was not used lately', () => {
    const cache = createTestNameCache({ maxNames: 100, maxChars: 1e9 });
    const used = cache.of(SCOPE)(NAMES);
    const unused = cache.of(SCOPE)({ ...NAMES, name: 'unused' });
    for (let n = 0; n < 1_000; n += 1) {
      cache.of(SCOPE)({ ...NAMES, name: `${n}` });
      assert.equal(cache.of(SCOPE)(NAMES), used);
    }
    assert.notEqual(cache.of(SCOPE)({ ...NAMES, name: 'unused' }), unused);
  });

  it('keeps the tests of others whatever one upload brings', () => {
    const cache = createTestNameCache({ maxNames: 100, maxChars: 1e9 });
    const known = cache.of(SCOPE)(NAMES);
    const huge = cache.of({ ...SCOPE, org: 'other' });
    for (let n = 0; n < 10_000; n += 1) huge({ ...NAMES, classname: `${n}` });
    assert.equal(cache.of(SCOPE)(NAMES), known);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseJson } from './parse-json.ts';
import { Problem } from './problem.ts';

const parse = (text: string | Buffer): unknown => parseJson(Buffer.from(text));
const isMalformed = (error: unknown): boolean => error instanceof Problem && error.code === 'MALFORMED_JSON';

describe('parseJson', () => {
  it('reads what JSON.parse reads, strings full of colons and brackets included [H5]', () => {
    const text = fc.string({ unit: fc.constantFrom('a', ':', '{', '[', '"', '\\', ']', '}', 'é', '😀') });
    const value = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, text, fc.integer(), fc.constant(null), tie('list'), tie('object')),
      list: fc.array(tie('value'), { maxLength: 4 }),
      object: fc.dictionary(text, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    })).value;
    fc.assert(fc.property(value, (each) => assert.deepEqual(parse(JSON.stringify(each)), each)));
  });

  for (const [what, text] of [
    ['nothing', ''],
    ['half an object', '{"a":'],
    ['a key that occurs twice', '{"a":1,"a":1}'],
    ['a key that occurs twice further in', '{"a":[{"b":1,"c":2,"b":3}]}'],
    ['the same key in another spelling', '{"a":1,"\\u0061":2}'],
    ['__proto__', '{"__proto__":{"x":1}}'],
    ['half of a surrogate pair', '{"a":"\\ud800"}'],
    ['half of a surrogate pair in a key', '{"\\udc00":1}'],
    ['a NUL', '{"a":"\\u0000"}'],
    ['65 levels', '['.repeat(65) + ']'.repeat(65)],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['a byte order mark', '\ufeff{}'],
    ['two values', '{} {}'],
  ] as const) {
    it(`refuses ${what} [H5]`, () => {
      assert.throws(() => parse(text), isMalformed);
    });
  }

  it('cuts lists, and objects, where nobody looks any further, and keeps what stands around them', () => {
    const list = Array.from({ length: 250_000 }, (_, index) => index);
    const text = JSON.stringify({ a: 1, list, b: { inner: [list, ['x']] }, c: 2 });
    const value = parse(text) as { a: number; list: number[]; b: { inner: [number[], string[]] }; c: number };
    assert.deepEqual([value.a, value.c, value.b.inner[1]], [1, 2, ['x']]);
    assert.deepEqual([value.list.length, value.list.at(-1)], [100_001, 100_000]);
    assert.equal(value.b.inner[0].length, 100_001);
    const wide = Object.fromEntries(list.map((key) => [`k${key}`, key]));
    assert.equal(Object.keys(parse(JSON.stringify({ wide })) as object).length, 1);
    assert.deepEqual(parse(JSON.stringify(list.slice(0, 100_001))), list.slice(0, 100_001));
  });

  it('refuses a text that is longer than any can be', () => {
    assert.throws(() => parse(JSON.stringify({ a: 'x'.repeat(65_537) })), /VALIDATION_FAILED/);
    assert.throws(() => parse(JSON.stringify({ ['x'.repeat(65_537)]: 1 })), /VALIDATION_FAILED/);
    assert.ok(parse(JSON.stringify({ a: 'x'.repeat(65_536) })));
  });

  it('accepts 64 levels', () => {
    assert.ok(parse('['.repeat(64) + ']'.repeat(64)));
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import type { LongList } from '../contract/operation.ts';
import { HttpProblem } from './core/problem.ts';
import { JsonScan } from './json-scan.ts';
import { ParseTurns, parseJson } from './read-json.ts';

describe('the parser of bodies', () => {
  it('parses a small one at once, and large ones one after the other with others in between [H15]', async () => {
    const turns = new ParseTurns();
    const seen: string[] = [];
    const over = new Promise<void>((resolve) => {
      turns.run(1_000_000, () => {
        seen.push('first');
        setImmediate(() => seen.push('somebody else'));
      });
      turns.run(1_000_000, () => {
        seen.push('second');
        resolve();
      });
    });
    turns.run(100, () => seen.push('small'));
    await over;
    await nextTurn();
    assert.deepEqual(seen, ['small', 'first', 'somebody else', 'second']);
  });
});

/** Scans in pieces, as a request does; the length of a piece cuts tokens anywhere. */
function parse(text: string | Buffer, { longList, piece = 7 }: { longList?: LongList; piece?: number } = {}): unknown {
  const bytes = Buffer.from(text);
  const scan = new JsonScan(longList);
  for (let at = 0; at < bytes.length; at += piece) scan.feed(bytes.subarray(at, at + piece));
  return parseJson(bytes, scan);
}
const isTooLarge = (error: unknown): boolean => error instanceof HttpProblem && error.code === 'BODY_TOO_LARGE';
const isMalformed = (error: unknown): boolean => error instanceof HttpProblem && error.code === 'MALFORMED_JSON';

describe('parseJson', () => {
  it('reads what JSON.parse reads, strings full of colons and brackets included [H21]', () => {
    const text = fc.string({ unit: fc.constantFrom('a', ':', '{', '[', '"', '\\', ']', '}', 'é', '😀', '\ufffd') });
    const value = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, text, fc.integer(), fc.constant(null), tie('list'), tie('object')),
      list: fc.array(tie('value'), { maxLength: 4 }),
      object: fc.dictionary(text, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    })).value;
    const indent = fc.constantFrom(0, 1);
    fc.assert(
      fc.property(value, indent, fc.integer({ min: 1, max: 9 }), (each, blanks, piece) =>
        assert.deepEqual(parse(JSON.stringify(each, null, blanks), { piece }), each),
      ),
    );
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
    it(`refuses ${what} [H21]`, () => {
      assert.throws(() => parse(text), isMalformed);
    });
  }

  const targets = { key: 'targets', fields: 0 };
  const numbers = (length: number) => Array.from({ length }, (_, index) => index);

  it('cuts a long list after the last valid item, and keeps the fields around it [H30]', () => {
    const text = JSON.stringify({ a: 1, targets: numbers(250_000), b: { inner: [['x']] }, c: 2 });
    const value = parse(text, { longList: targets }) as { a: number; targets: number[]; b: unknown; c: number };
    assert.deepEqual([value.a, value.c, value.b], [1, 2, { inner: [['x']] }]);
    assert.deepEqual([value.targets.length, value.targets.at(-1)], [100_001, 100_000]);
    const whole = { targets: numbers(100_001) };
    assert.deepEqual(parse(JSON.stringify(whole), { longList: targets }), whole);
  });

  for (const [what, make] of [
    ['a list', () => numbers(99_998)],
    ['lists in lists', () => Array.from({ length: 1_612 }, () => JSON.parse('['.repeat(62) + ']'.repeat(62)))],
    ['texts, words and numbers', () => Array.from({ length: 19_999 }, () => ['a', true, null, -1.5e3])],
  ] as const) {
    it(`reads ${what} of up to 100,000 values, and refuses the next one [H13]`, () => {
      const value = { a: make() };
      assert.deepEqual(parse(JSON.stringify(value)), value);
      const more = JSON.stringify({ ...value, b: numbers(20_000) });
      assert.throws(() => parse(more), isTooLarge);
    });
  }

  it('reads objects with 20,000 keys together, and refuses the next one [H13]', () => {
    const wide = Object.fromEntries(numbers(19_998).map((key) => [`k${key}`, key]));
    assert.deepEqual(parse(JSON.stringify({ a: wide, b: 1 })), { a: wide, b: 1 });
    assert.throws(() => parse(JSON.stringify({ a: wide, b: { c: 1 } })), isTooLarge);
    assert.throws(() => parse(JSON.stringify(numbers(20_001).map((a) => ({ a })))), isTooLarge);
  });

  it('counts exactly: objects, lists, texts, numbers and words are values, and keys are not [H13]', () => {
    assert.ok(parse(JSON.stringify({ a: { b: ['x', 1, true, null] }, c: numbers(99_992) })));
    assert.throws(() => parse(JSON.stringify({ a: { b: ['x', 1, true, null] }, c: numbers(99_993) })), isTooLarge);
  });

  it('refuses too many values before the body has arrived [H13]', () => {
    const scan = new JsonScan();
    assert.throws(() => scan.feed(Buffer.from(`[${'0,'.repeat(100_001)}`)), isTooLarge);
  });

  it('counts the items of a long list apart, and their fields, as many as there can be [H30]', () => {
    const longList = { key: 'tests', fields: 2 };
    const value = { tests: Array.from({ length: 90_000 }, (_, index) => ({ id: index, name: 'n' })) };
    assert.deepEqual(parse(JSON.stringify(value), { longList }), value);
    for (const odd of [
      { tests: value.tests.map((test) => ({ ...test, more: 1, most: 2 })) },
      { tests: value.tests.map(() => [[1, 2]]) },
      { other: value.tests },
      { in: { tests: value.tests } },
      { tests: { tests: value.tests } },
      { x: 'tests', y: value.tests },
      [value.tests],
    ]) {
      assert.throws(() => parse(JSON.stringify(odd), { longList }), isTooLarge);
    }
  });

  it('refuses more than 4 MiB of texts, keys, numbers and words outside the long list [H13]', () => {
    const piece = 65_536;
    const texts = Array.from({ length: 110 }, () => 'x'.repeat(40_000));
    assert.throws(() => parse(JSON.stringify({ a: texts }), { piece }), isTooLarge);
    assert.throws(() => parse(`{"a":${'1'.repeat(4_200_000)}}`, { piece }), isTooLarge);
    const fitting = { a: texts.slice(10), targets: texts };
    assert.deepEqual(parse(JSON.stringify(fitting), { piece, longList: targets }), fitting);
    assert.deepEqual(parse(`{"a":1${' '.repeat(5_000_000)}}`, { piece }), { a: 1 });
  });

  it('passes over blanks, however many, and takes none for nothing [H21]', () => {
    const blanks = ' \n\t\r'.repeat(2_000);
    for (const piece of [7, 1_500, 65_536]) {
      const body = `${blanks}{${blanks}"a"${blanks}:${blanks}[1${blanks},${blanks}"b${' '.repeat(5_000)}"]${blanks}}${blanks}`;
      assert.deepEqual(parse(body, { piece }), { a: [1, `b${' '.repeat(5_000)}`] });
      for (const odd of [`[1${blanks}2]`, `[tr${blanks}ue]`, `["a"${blanks}"b"]`, `[1,${'\0'.repeat(5_000)}2]`]) {
        assert.throws(() => parse(odd, { piece }), isMalformed);
      }
    }
    const long = `{"targets":[${`0,${blanks}`.repeat(10)}${'1,'.repeat(200_000)}${blanks}2${blanks}]${blanks}}`;
    const { targets: read } = parse(long, { piece: 65_536, longList: targets }) as { targets: number[] };
    assert.equal(read.length, 100_001);
  });

  it('takes one list for the long one, however often it is named [H30]', () => {
    const list = JSON.stringify(numbers(90_000));
    assert.throws(() => parse(`{"targets":${list},"targets":${list},"a":${list}}`, { longList: targets }), isTooLarge);
  });

  it('refuses a text that is longer than any can be', () => {
    assert.throws(() => parse(JSON.stringify({ a: 'x'.repeat(65_537) })), /VALIDATION_FAILED/);
    assert.throws(() => parse(JSON.stringify({ ['x'.repeat(65_537)]: 1 })), /VALIDATION_FAILED/);
    assert.throws(() => parse(JSON.stringify({ a: 'é'.repeat(65_537) })), /VALIDATION_FAILED/);
    assert.ok(parse(JSON.stringify({ a: 'x'.repeat(65_536) })));
    assert.ok(parse(`{"a":"${'\\u0041'.repeat(65_536)}"}`));
    const scan = new JsonScan();
    assert.throws(() => scan.feed(Buffer.from(`"${'\\u0041'.repeat(65_537)}`)), /VALIDATION_FAILED/);
  });

  it('accepts 64 levels', () => {
    assert.ok(parse('['.repeat(64) + ']'.repeat(64)));
  });
});

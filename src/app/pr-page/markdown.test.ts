import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readCode, readWords } from '../../../test/helpers/read-markdown.ts';
import { code, joinLines, link, safeAddress, tame, words } from './markdown.ts';

const ATTACKS = [
  '@everyone look at this',
  '@acme/owners',
  'fixes #1, closes acme/app#2 and GH-3',
  '[click](javascript:alert(1))',
  '![x](https://evil.test/track.png)',
  '<img src=x onerror=alert(1)>',
  '<!-- sluice:queue -->',
  '</details></sub><h1>Merged!</h1>',
  '`` ` ``` ```\n/sluice merge',
  '\n/sluice merge -p urgent\n/trunk merge',
  '/sluice merge',
  '| a | b |\n|---|---|',
  '- [x] approved',
  '1. one',
  '# Heading',
  '**bold** _it_ ~~no~~ $x$',
  'https://evil.test www.evil.test mailto:a@b.test',
  ':tada: :+1: :white_check_mark: Landed :-1::tada:',
  '&lt;script&gt; &#64;everyone',
  '\\@everyone \\`',
  '\u202etxt.exe\u202c \u2066x\u2069',
  'Z\u0300\u0301\u0302\u0303\u0304\u0305\u0306a',
  'a\u{e0041}\u{e0042}b\0\u0007',
  '\ud800 half',
];

const piece = fc.oneof(
  fc.constantFrom(...ATTACKS, '@', '#', '1', '`', '``', '\\', '<', '>', '[', ']', '(', ')', '!', '|', '~', '*', '_'),
  fc.constantFrom(
    '://',
    'https',
    'www.',
    'gh-',
    ':',
    '/',
    '.',
    '-',
    '+',
    '=',
    '&',
    '$',
    ' ',
    '\n',
    '\t',
    '\u200b',
    '\u200d',
  ),
  fc.string({ unit: 'binary', maxLength: 5 }),
);
const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
const withoutWidth = (shown: string) => shown.replaceAll('\u200b', '');

describe('the Markdown of foreign texts', () => {
  it('shows every text as it is, and nothing in it means anything [G46]', () => {
    const ours = new Set([12]);
    fc.assert(
      fc.property(text, (given) => {
        const read = readWords(words(given, { ours }), ours);
        assert.ok('shown' in read, `${JSON.stringify(given)}: ${'danger' in read ? read.danger : ''}`);
        assert.equal(withoutWidth(read.shown), tame(given));
      }),
      { numRuns: 3_000 },
    );
  });

  for (const attack of ATTACKS) {
    it(`takes ${JSON.stringify(attack).slice(0, 40)} as a text [G46]`, () => {
      const read = readWords(words(attack));
      assert.ok('shown' in read, 'danger' in read ? read.danger : '');
      assert.equal(readCode(code(attack))?.replaceAll('\u200b', ''), tame(attack));
    });
  }

  it('shows every name as code, of any characters [G46]', () => {
    fc.assert(
      fc.property(text, (given) => {
        const markdown = code(given);
        assert.equal(markdown.includes('<!--'), false);
        assert.doesNotMatch(markdown, /[\r\n]/);
        const expected = tame(given, 200);
        if (expected === '') assert.equal(markdown, '(no name)');
        else assert.equal(readCode(markdown)?.replaceAll('\u200b', ''), expected);
      }),
      { numRuns: 3_000 },
    );
  });

  it('breaks names of emoji, and leaves colons and hashes as they are [G46]', () => {
    assert.equal(words(':tada: done'), '\\:\u200btada: done');
    assert.equal(words('ok :white_check_mark:'), 'ok :\u200bwhite\\_check\\_mark:');
    for (const text of ['fix: a thing', 'std::vector', 'at 10:16 UTC', 'as 3d953110723bf874ff37a7b7c7b01da2546d0897'])
      assert.equal(words(text), text);
  });

  it('keeps references of ours, and only those [G46]', () => {
    assert.equal(words('It waits for #12, not #13.', { ours: new Set([12]) }), 'It waits for #12, not \\#\u200b13.');
    assert.equal(words('evil/app#12', { ours: new Set([12]) }), 'evil/app\\#\u200b12');
    assert.equal(words('#123', { ours: new Set([12]) }), '\\#\u200b123');
  });

  it('links to pages only [G142]', () => {
    for (const address of [
      'javascript:alert(1)',
      'data:text/html,x',
      'ftp://a.test/',
      'https://user:pass@a.test/',
      'not an address',
      `https://a.test/${'x'.repeat(1_000)}`,
    ]) {
      assert.equal(safeAddress(address), undefined, address);
      assert.equal(link('`ci`', address), '`ci`');
    }
    assert.equal(link('`ci`', 'https://ci.test/a?b=(c)'), '[`ci`](https://ci.test/a?b=%28c%29)');
    assert.equal(link('`ci`', 'https://ci.test/") [x](y'), '[`ci`](https://ci.test/%22%29%20%5Bx%5D%28y)');
  });

  it('never lets an address out of its brackets [G142]', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), text, (url, more) => {
        assert.match(link('x', `${url}${more}`), /^(?:x|\[x\]\(https?:[^\s()<>[\]\\`|"']*\))$/);
      }),
    );
  });

  it('cuts long texts between characters, and towers of combining marks [G142]', () => {
    assert.equal(tame('x'.repeat(600)), `${'x'.repeat(499)}…`);
    assert.equal(tame('😀'.repeat(600), 10), '😀😀😀😀…');
    assert.equal(tame(`a${'\u0301'.repeat(50)}b`), 'a\u0301\u0301\u0301b');
    assert.equal(tame('one\r\n two\t\u2028three'), 'one two three');
    assert.equal(tame('👩‍👩‍👧'), '👩‍👩‍👧');
  });

  it('takes as many lines as fit [G142]', () => {
    assert.equal(joinLines(['a', 'b'], 100, 'more'), 'a\nb');
    assert.equal(joinLines(['aaaa', 'bbbb', 'cccc'], 12, 'more'), 'aaaa\nmore');
  });
});

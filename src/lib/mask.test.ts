import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMasker } from './mask.ts';

const SECRET = 'tök+en/"12345';

function mask(text: string, { secrets = [SECRET], size = 3 } = {}): string {
  const masker = createMasker(secrets);
  const bytes = Buffer.from(text);
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(masker.mask(bytes.subarray(at, at + size)));
  return Buffer.concat([...pieces, masker.end()]).toString();
}

describe('a masker of secrets', () => {
  it('[R98] hides a secret in pieces of any size, and nothing else', () => {
    for (let size = 1; size < 40; size += 1) assert.equal(mask(`a ${SECRET}${SECRET} ö\n`, { size }), 'a ****** ö\n');
    assert.equal(mask('tök+en/"1234'), 'tök+en/"1234');
    assert.equal(mask('anything', { secrets: [] }), 'anything');
  });

  it('[R98] hides a secret that begins with another one as a whole', () => {
    const secrets = ['abcdefgh', 'abcdefghijkl', 'ghijkl-ghijkl'];
    for (let size = 1; size < 20; size += 1) {
      assert.equal(mask('<abcdefghijkl>', { secrets, size }), '<***>', `${size}`);
      assert.equal(mask('<abcdefghij> abcdefgh', { secrets, size }), '<***ij> ***', `${size}`);
    }
  });

  it('[R98] hides what programs make of it', () => {
    const bytes = Buffer.from(SECRET);
    for (const text of [encodeURIComponent(SECRET), JSON.stringify(SECRET).slice(1, -1), bytes.toString('hex')])
      assert.equal(mask(`<${text}>`), '<***>');
    for (const before of ['', 'u', 'us', 'user:']) {
      const masked = mask(Buffer.from(`${before}${SECRET}`).toString('base64'));
      assert.match(masked, /^.{0,8}\*\*\*.{0,3}$/);
    }
  });

  it('[R98] hides what reports make of it, which is read again without', () => {
    const secret = `tök&<en>"'12345`;
    const forms = [
      'tök&amp;&lt;en&gt;&quot;&apos;12345',
      'tök&amp;&lt;en&gt;&#34;&#39;12345',
      `tök&amp;&lt;en&gt;"'12345`,
      `tök&amp;&lt;en>"'12345`,
      'tök&amp;&lt;en&gt;&quot;&#x27;12345',
      `tök&amp;&lt;en&gt;&quot;'12345`,
      `tök&amp;&lt;en>&quot;'12345`,
    ];
    for (const form of forms) assert.equal(mask(`<${form}>`, { secrets: [secret] }), '<***>', form);
  });

  it('[R98] hides it in capital digits, and in base64 of several lines', () => {
    const encoded = encodeURIComponent(SECRET);
    for (const text of [
      Buffer.from(SECRET).toString('hex').toUpperCase(),
      encoded.replaceAll(/%../g, (at) => at.toLowerCase()),
    ])
      assert.equal(mask(`<${text}>`), '<***>');
    const long = Array.from({ length: 40 }, (_, index) => `part-${index}`).join('.');
    for (const width of [64, 76]) {
      const lines =
        Buffer.from(long)
          .toString('base64')
          .match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
      assert.match(mask(lines.join('\n'), { secrets: [long] }), /^\*\*\*.{0,3}$/s);
    }
  });

  it('[R98] hides it split over lines and columns, as it is and encoded', () => {
    const bytes = Buffer.from(SECRET);
    const texts = [SECRET, bytes.toString('hex'), bytes.toString('hex').toUpperCase(), encodeURIComponent(SECRET)];
    for (const text of texts) {
      for (const width of [1, 2, 5]) {
        for (const between of ['\n', '\r\n', ' ', ' \t\n']) {
          const split = (text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).join(between);
          for (const size of [1, 3, 1_000])
            assert.equal(mask(`<${split}>`, { size }), '<***>', JSON.stringify({ split, size }));
        }
      }
    }
    assert.equal(mask('a b\n\nc\n'), 'a b\n\nc\n');
    assert.equal(mask('tök+en \n'), 'tök+en \n');
  });

  it('[R98] holds no more than a piece back, however much white space follows', () => {
    const masker = createMasker([SECRET]);
    masker.mask(Buffer.from('tök'));
    let written = 0;
    for (let piece = 0; piece < 100; piece += 1) written += masker.mask(Buffer.from(' '.repeat(1_000))).length;
    assert.ok(written > 80_000, `${written}`);
  });

  it('[R98] hides each line of a key', () => {
    const key = '-----BEGIN KEY-----\nMIIEabcdefgh\nshort\n-----END KEY-----';
    assert.equal(mask('MIIEabcdefgh', { secrets: [key] }), '***');
    assert.equal(mask('short', { secrets: [key] }), 'short');
  });

  it('[R98] needs time that grows with the output alone', () => {
    const secret = 'ab'.repeat(2_000);
    const masked = mask('ab'.repeat(50_000), { secrets: [secret], size: 65_536 });
    assert.equal(masked, '***'.repeat(25));
  });
});

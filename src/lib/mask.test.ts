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

  it('[R98] hides what programs make of it', () => {
    const bytes = Buffer.from(SECRET);
    for (const text of [encodeURIComponent(SECRET), JSON.stringify(SECRET).slice(1, -1), bytes.toString('hex')])
      assert.equal(mask(`<${text}>`), '<***>');
    for (const before of ['', 'u', 'us', 'user:']) {
      const masked = mask(Buffer.from(`${before}${SECRET}`).toString('base64'));
      assert.match(masked, /^.{0,8}\*\*\*.{0,3}$/);
    }
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

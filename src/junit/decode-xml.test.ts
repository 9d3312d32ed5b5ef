import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createXmlDecoder } from './decode-xml.ts';

function decode(...pieces: readonly Uint8Array[]) {
  const decoder = createXmlDecoder();
  const texts = pieces.map((piece) => decoder.write(piece));
  const end = decoder.end();
  return { ...end, text: texts.join('') + end.text };
}

const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16();
const bytes = (...parts: readonly (string | Uint8Array | number)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.of(part) : Buffer.from(part as string))));

describe('encodings [J13]', () => {
  const xml = `<?xml version="1.0"?><a n="äö😀日本">${'x'.repeat(2_000)}</a>`;

  it('are told by the byte order mark, which is not part of the text', () => {
    assert.equal(decode(bytes(0xef, 0xbb, 0xbf, xml)).text, xml);
    assert.equal(decode(bytes(0xff, 0xfe, Buffer.from(xml, 'utf16le'))).text, xml);
    assert.equal(decode(bytes(0xfe, 0xff, utf16be(xml))).text, xml);
  });

  it('are told by the zero bytes of UTF-16', () => {
    assert.equal(decode(Buffer.from(xml, 'utf16le')).text, xml);
    assert.equal(decode(utf16be(xml)).text, xml);
  });

  it('are told by the declaration', () => {
    const latin = '<?xml version="1.0" encoding="ISO-8859-1"?><a>\xe4\xf6</a>';
    assert.equal(decode(Buffer.from(latin, 'latin1')).text, latin);
    const japanese = bytes('<?xml version="1.0" encoding=\'Shift_JIS\'?><a>', 0x93, 0xfa, '</a>');
    assert.match(decode(japanese).text, /<a>日<\/a>$/);
  });

  it('that are unknown or cannot be are read as UTF-8, and named', () => {
    for (const declared of ['UTF-16', 'klingon']) {
      const text = `<?xml version="1.0" encoding="${declared}"?><a>ä</a>`;
      const read = decode(Buffer.from(text));
      assert.deepEqual([read.text, read.encoding, read.refusedEncoding], [text, 'utf-8', declared]);
    }
  });

  it('invalid bytes are replaced and noted', () => {
    const read = decode(bytes('<a>', 0xff, 0xc3, '</a>', 0xe2, 0x82));
    assert.deepEqual([read.text, read.hasInvalidBytes], ['<a>\ufffd\ufffd</a>\ufffd', true]);
    assert.equal(decode(Buffer.from(xml)).hasInvalidBytes, false);
    assert.equal(decode().text, '');
  });

  it('do not depend on where the bytes are cut', () => {
    const files = [
      Buffer.from(xml),
      Buffer.from(xml, 'utf16le'),
      bytes(0xfe, 0xff, utf16be(xml)),
      bytes(xml, 0xc3, xml),
    ];
    fc.assert(
      fc.property(fc.constantFrom(...files), fc.array(fc.nat(), { maxLength: 20 }), (file, cuts) => {
        const ends = [...cuts.map((cut) => cut % (file.length + 1)), file.length].sort((a, b) => a - b);
        const pieces = ends.map((end, index) => file.subarray(index === 0 ? 0 : ends[index - 1], end));
        assert.deepEqual(decode(...pieces), decode(file));
      }),
    );
  });
});

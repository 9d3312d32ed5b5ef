/** Decodes the bytes of an XML file. Never throws: invalid bytes become U+FFFD. */
export interface XmlDecoder {
  write(bytes: Uint8Array): string;
  end(): XmlDecoderEnd;
}

interface XmlDecoderEnd {
  readonly text: string;
  readonly encoding: string;
  /** The declared encoding, if it could not be used. */
  readonly refusedEncoding: string | null;
  /** The file has bytes that are invalid in its encoding. */
  readonly hasInvalidBytes: boolean;
}

/** The declaration is in the first bytes; decoding starts once this many have arrived. */
const HEAD_BYTES = 1_024;

export function createXmlDecoder(): XmlDecoder {
  let head: Uint8Array | null = new Uint8Array(0);
  let decoder = new TextDecoder();
  let choice: Choice = { encoding: 'utf-8', refused: null };
  let hasInvalidBytes = false;

  function begin(bytes: Uint8Array): void {
    head = null;
    choice = chooseEncoding(bytes);
    decoder = new TextDecoder(choice.encoding);
  }

  function decode(bytes: Uint8Array, stream: boolean): string {
    const text = decoder.decode(bytes, { stream });
    // A replacement character in the file itself counts too: an earlier tool met invalid bytes.
    hasInvalidBytes ||= text.includes('\ufffd');
    return text;
  }

  return {
    write(bytes) {
      if (head === null) return decode(bytes, true);
      const joined = join(head, bytes);
      head = joined;
      if (joined.length < HEAD_BYTES) return '';
      begin(joined);
      return decode(joined, true);
    },
    end() {
      const rest = head ?? new Uint8Array(0);
      if (head !== null) begin(rest);
      const text = decode(rest, false);
      return { text, encoding: choice.encoding, refusedEncoding: choice.refused, hasInvalidBytes };
    },
  };
}

interface Choice {
  readonly encoding: string;
  readonly refused: string | null;
}

// SPEC J13
function chooseEncoding(bytes: Uint8Array): Choice {
  const seen = encodingOfBytes(bytes);
  if (seen !== null) return { encoding: seen, refused: null };
  const declared = declaredEncoding(bytes);
  if (declared === null) return { encoding: 'utf-8', refused: null };
  const known = knownEncoding(declared);
  // If the declaration is readable as ASCII, the file is not UTF-16, even if it declares that.
  if (known === null || known.startsWith('utf-16')) return { encoding: 'utf-8', refused: declared };
  return { encoding: known, refused: null };
}

/** A byte order mark, or the zero bytes of a first `<` or space in UTF-16. */
function encodingOfBytes([a = -1, b = -1, c = -1]: Uint8Array): string | null {
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8';
  if (a === 0xff && b === 0xfe) return 'utf-16le';
  if (a === 0xfe && b === 0xff) return 'utf-16be';
  if (isAsciiStart(a) && b === 0) return 'utf-16le';
  if (a === 0 && isAsciiStart(b)) return 'utf-16be';
  return null;
}

function isAsciiStart(byte: number): boolean {
  return byte === 0x3c || byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function declaredEncoding(bytes: Uint8Array): string | null {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, HEAD_BYTES));
  return /^\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(start)?.[1] ?? null;
}

function knownEncoding(label: string): string | null {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return null;
  }
}

function join(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}

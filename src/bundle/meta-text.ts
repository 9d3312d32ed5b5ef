import { Unreadable } from './unreadable.ts';

/** Each failed test is listed with its text: a day on which all fail makes hundreds of megabytes that nobody reads. */
const LEFT_OUT: ReadonlySet<string> = new Set(['failed_tests', 'quarantined_tests']);
const LONGEST_LEFT_OUT = 32;

/** Of what is kept. */
const MAX_BYTES = 32 * 1024 ** 2;

const NULL = Buffer.from('null');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING = [0x7b, 0x5b];
const CLOSING = [0x7d, 0x5d];

/** The text of meta.json, with null for the lists that are left out; they are found without parsing it. */
export async function readMetaText(body: AsyncIterable<Uint8Array>, maxBytes = MAX_BYTES): Promise<string> {
  const kept: Uint8Array[] = [];
  let length = 0;
  let depth = 0;
  let isInText = false;
  let isEscaped = false;
  let isLeftOut = false;
  /** The last text of the object itself: a name, where a colon follows. */
  let name = '';
  const keep = (part: Uint8Array) => {
    length += part.length;
    if (length > maxBytes) throw new Unreadable('TOO_BIG', `meta.json has more than ${maxBytes} bytes.`);
    // A copy: whoever reads the source may use its chunk again.
    kept.push(Uint8Array.from(part));
  };
  for await (const chunk of body) {
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (isInText) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isInText = false;
        if (isInText && depth === 1 && name.length < LONGEST_LEFT_OUT) name += String.fromCharCode(byte);
        continue;
      }
      if (byte === QUOTE) {
        isInText = true;
        name = '';
      } else if (byte === COLON && depth === 1 && LEFT_OUT.has(name)) {
        keep(chunk.subarray(from, at + 1));
        keep(NULL);
        isLeftOut = true;
      } else if (isLeftOut && depth === 1 && (byte === COMMA || CLOSING.includes(byte))) {
        from = at;
        isLeftOut = false;
      }
      if (OPENING.includes(byte)) depth += 1;
      else if (CLOSING.includes(byte)) depth -= 1;
    }
    if (!isLeftOut) keep(chunk.subarray(from));
  }
  return new TextDecoder().decode(Buffer.concat(kept));
}

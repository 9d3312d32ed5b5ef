import { Unreadable } from './unreadable.ts';

/** One object of a stream of them; `too-long`: it was passed over; `cut`: the stream ends within it. */
export type JsonText =
  | { readonly kind: 'object'; readonly text: string }
  | { readonly kind: 'too-long' }
  | { readonly kind: 'cut' };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Finds where objects begin and end, without parsing them. All that matters to that is ASCII. */
export async function* splitJson(source: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<JsonText> {
  let depth = 0;
  let isInText = false;
  let isEscaped = false;
  let length = 0;
  let parts: Uint8Array[] = [];
  const keep = (part: Uint8Array) => {
    length += part.length;
    if (length <= maxBytes) parts.push(part);
    else parts = [];
  };
  for await (const chunk of source) {
    let from = 0;
    for (let i = 0; i < chunk.length; i += 1) {
      const byte = chunk[i] as number;
      if (isInText) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isInText = false;
      } else if (byte === OPEN) {
        if (depth === 0) from = i;
        depth += 1;
      } else if (depth === 0) {
        if (!isBlank(byte)) throw new Unreadable('DAMAGED', 'The build events are not JSON objects.');
      } else if (byte === QUOTE) {
        isInText = true;
      } else if (byte === CLOSE) {
        depth -= 1;
        if (depth > 0) continue;
        keep(chunk.subarray(from, i + 1));
        yield length > maxBytes
          ? { kind: 'too-long' }
          : { kind: 'object', text: Buffer.concat(parts).toString('utf8') };
        parts = [];
        length = 0;
      }
    }
    // A copy: whoever reads the source may use its chunk again.
    if (depth > 0) keep(Uint8Array.from(chunk.subarray(from)));
  }
  if (depth > 0) yield { kind: 'cut' };
}

/** Blanks, line ends, byte order marks, and the comma some tools write between objects. */
function isBlank(byte: number): boolean {
  if (byte === 0xef || byte === 0xbb || byte === 0xbf) return true;
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d) || byte === 0x2c;
}

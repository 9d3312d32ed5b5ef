import { SHA1_PADDING_BYTES, sha1Blocks, sha1Finish, sha1Start } from './sha1.ts';

/** The namespace of URLs (RFC 9562): the one the uploader uses, whatever is hashed in it. */
const NAMESPACE = Uint8Array.of(
  ...[0x6b, 0xa7, 0xb8, 0x11, 0x9d, 0xad, 0x11, 0xd1],
  ...[0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8],
);

const encoder = new TextEncoder();
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Answers a function that makes the UUID of version 5 of `prefix` and what it is given. */
export function createUuidV5(prefix: string): (rest: string) => string {
  const head = Uint8Array.of(...NAMESPACE, ...encoder.encode(prefix));
  const begun = sha1Start();
  const before = sha1Blocks(begun, head, { offset: 0, end: head.length });
  const tail = head.subarray(before);

  const state = sha1Start();
  let scratch = new Uint8Array(0);
  return (rest) => {
    // One UTF-16 unit is at most three bytes of UTF-8.
    const needed = tail.length + rest.length * 3 + SHA1_PADDING_BYTES;
    if (scratch.length < needed) {
      scratch = new Uint8Array(needed * 2);
      scratch.set(tail);
    }
    state.set(begun);
    const { written } = encoder.encodeInto(rest, scratch.subarray(tail.length));
    sha1Finish(state, scratch, { length: tail.length + written, before });
    // The padding may have been written over nothing but free room: the tail is untouched for the next one.
    return format(state);
  };
}

function format(state: Int32Array): string {
  const a = state[0] as number;
  const b = ((state[1] as number) & 0xffff0fff) | 0x5000;
  const c = ((state[2] as number) & 0x3fffffff) | 0x80000000;
  const d = state[3] as number;
  return `${word(a)}-${half(b >>> 16)}-${half(b)}-${half(c >>> 16)}-${half(c)}${word(d)}`;
}

function half(value: number): string {
  return `${HEX[(value >>> 8) & 0xff]}${HEX[value & 0xff]}`;
}

function word(value: number): string {
  return half(value >>> 16) + half(value);
}

// SHA-1 (FIPS 180-4), because test ids are UUIDs of version 5 and this room imports nothing. It hides no secrets here.
// Hashes that begin alike share the work of their beginning: hash the whole blocks of it once, go on from a copy.

const BLOCK_BYTES = 64;
const LENGTH_BYTES = 8;

/** Five words. */
export type Sha1State = Int32Array;

export function sha1Start(): Sha1State {
  return Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0);
}

/** Room that `sha1Finish` may need behind the bytes. */
export const SHA1_PADDING_BYTES = BLOCK_BYTES + LENGTH_BYTES;

// One schedule for all: hashing never waits, so no two hashes are under way at once.
const schedule = new Int32Array(80);

/** Takes in `bytes` from `offset`, whole blocks only, up to `end`; answers where it stopped. */
export function sha1Blocks(
  state: Sha1State,
  bytes: Uint8Array,
  range: { readonly offset: number; readonly end: number },
): number {
  let { offset } = range;
  for (; offset + BLOCK_BYTES <= range.end; offset += BLOCK_BYTES) block(state, bytes, offset);
  return offset;
}

/**
 * Ends a hash whose last bytes are the first `length` of `bytes`, after `before` bytes that the state has taken in.
 * Writes the padding behind them.
 */
export function sha1Finish(
  state: Sha1State,
  bytes: Uint8Array,
  sizes: { readonly length: number; readonly before: number },
): void {
  const { length } = sizes;
  const end = Math.ceil((length + 1 + LENGTH_BYTES) / BLOCK_BYTES) * BLOCK_BYTES;
  bytes.fill(0, length, end);
  bytes[length] = 0x80;
  const bits = (sizes.before + length) * 8;
  const high = Math.floor(bits / 0x1_0000_0000);
  for (let i = 0; i < 4; i += 1) {
    bytes[end - 1 - i] = (bits >>> (8 * i)) & 0xff;
    bytes[end - 5 - i] = (high >>> (8 * i)) & 0xff;
  }
  sha1Blocks(state, bytes, { offset: 0, end });
}

function block(state: Sha1State, bytes: Uint8Array, offset: number): void {
  const w = schedule;
  for (let i = 0, at = offset; i < 16; i += 1, at += 4) {
    w[i] =
      ((bytes[at] as number) << 24) |
      ((bytes[at + 1] as number) << 16) |
      ((bytes[at + 2] as number) << 8) |
      (bytes[at + 3] as number);
  }
  for (let i = 16; i < 80; i += 1) {
    const x = (w[i - 3] as number) ^ (w[i - 8] as number) ^ (w[i - 14] as number) ^ (w[i - 16] as number);
    w[i] = (x << 1) | (x >>> 31);
  }
  let a = state[0] as number;
  let b = state[1] as number;
  let c = state[2] as number;
  let d = state[3] as number;
  let e = state[4] as number;
  // Four loops, one for each round's function: a choice inside of one loop costs a third of the speed.
  for (let i = 0; i < 20; i += 1) {
    const t = (((a << 5) | (a >>> 27)) + ((b & c) | (~b & d)) + e + 0x5a827999 + (w[i] as number)) | 0;
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = t;
  }
  for (let i = 20; i < 40; i += 1) {
    const t = (((a << 5) | (a >>> 27)) + (b ^ c ^ d) + e + 0x6ed9eba1 + (w[i] as number)) | 0;
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = t;
  }
  for (let i = 40; i < 60; i += 1) {
    const t = (((a << 5) | (a >>> 27)) + ((b & c) | (b & d) | (c & d)) + e + 0x8f1bbcdc + (w[i] as number)) | 0;
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = t;
  }
  for (let i = 60; i < 80; i += 1) {
    const t = (((a << 5) | (a >>> 27)) + (b ^ c ^ d) + e + 0xca62c1d6 + (w[i] as number)) | 0;
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = t;
  }
  state[0] = ((state[0] as number) + a) | 0;
  state[1] = ((state[1] as number) + b) | 0;
  state[2] = ((state[2] as number) + c) | 0;
  state[3] = ((state[3] as number) + d) | 0;
  state[4] = ((state[4] as number) + e) | 0;
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { chunks } from '../../test/helpers/bundle.ts';
import { DECODE_LIMITS, type DecodeLimits, decodeBody, type Encoding } from './decode-body.ts';
import { Unreadable } from './unreadable.ts';

const TEXT = Buffer.from('<testsuites>hello</testsuites>\n'.repeat(5_000));

async function decode(
  bytes: Uint8Array,
  {
    encoding = 'zstd',
    size = 777,
    limits = DECODE_LIMITS,
  }: { encoding?: Encoding; size?: number; limits?: DecodeLimits },
): Promise<{ text: Buffer; hasTrailing: boolean }> {
  const parts: Uint8Array[] = [];
  let hasTrailing = false;
  const trailing = () => {
    hasTrailing = true;
  };
  for await (const part of decodeBody(chunks(bytes, size), encoding, limits, { trailing })) parts.push(part);
  return { text: Buffer.concat(parts), hasTrailing };
}

function refuses(promise: Promise<unknown>, code: string, detail: RegExp) {
  return assert.rejects(promise, (error: unknown) => {
    assert.ok(error instanceof Unreadable, String(error));
    assert.equal(error.code, code);
    assert.match(error.detail, detail);
    return true;
  });
}

describe('decodeBody', () => {
  const packed: [Encoding, Buffer][] = [
    ['identity', TEXT],
    ['gzip', gzipSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['zstd', zstdCompressSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
  ];
  for (const [encoding, bytes] of packed) {
    it(`reads ${encoding} in chunks of any size [U5]`, async () => {
      for (const size of [encoding === 'identity' ? 100 : 1, 13, bytes.length, bytes.length + 1]) {
        const { text, hasTrailing } = await decode(bytes, { encoding, size });
        assert.ok(text.equals(TEXT));
        assert.equal(hasTrailing, false);
      }
    });
  }

  it('reads all frames, and says when something else follows [U5]', async () => {
    const frame = zstdCompressSync(TEXT);
    const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4]);
    const twice = Buffer.concat([skippable, frame, skippable, frame]);
    const garbage = Buffer.concat([frame, Buffer.from('garbage')]);
    for (const size of [1, 7, frame.length, 1_000_000]) {
      assert.ok((await decode(twice, { size })).text.equals(Buffer.concat([TEXT, TEXT])), `${size}`);
      assert.deepEqual(await decode(garbage, { size }), { text: TEXT, hasTrailing: true }, `${size}`);
    }
    const members = Buffer.concat([gzipSync(TEXT), gzipSync(TEXT)]);
    assert.ok((await decode(members, { encoding: 'gzip' })).text.equals(Buffer.concat([TEXT, TEXT])));
  });

  it('refuses bombs by size and by ratio, before they are unpacked [U53]', async () => {
    const bomb = zstdCompressSync(Buffer.alloc(20_000_000));
    const limits = { maxBytes: 1_000_000, maxRatio: 1e9, ratioFromBytes: 0 };
    await refuses(decode(bomb, { limits }), 'TOO_BIG', /more than 1000000 bytes/);
    await refuses(decode(TEXT, { encoding: 'identity', limits: { ...limits, maxBytes: 10 } }), 'TOO_BIG', /10 bytes/);
    const byRatio = { maxBytes: 1e9, maxRatio: 100, ratioFromBytes: 100_000 };
    await refuses(decode(bomb, { limits: byRatio }), 'TOO_BIG', /100 times/);
    await refuses(
      decode(gzipSync(Buffer.alloc(20_000_000)), { encoding: 'gzip', limits: byRatio }),
      'TOO_BIG',
      /100 times/,
    );
    const frames = Buffer.concat(Array.from({ length: 10_001 }, () => zstdCompressSync(Buffer.alloc(0))));
    await refuses(decode(frames, { size: 100_001 }), 'TOO_BIG', /packed parts/);
  });

  it('refuses a frame that asks for too much memory [U53]', async () => {
    // Magic, a descriptor without a content size, a window of 2 to the power of 10 and more, one empty last block.
    const frame = (power: number) => Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, power << 3, 0x01, 0x00, 0x00]);
    await refuses(decode(frame(17), {}), 'TOO_BIG', /window of more than 8 MiB/);
    await refuses(decode(frame(14), {}), 'TOO_BIG', /window of more than 8 MiB/);
    assert.equal((await decode(frame(13), {})).text.length, 0);
  });

  it('refuses a body that is not packed, cut off or damaged, each with its own code [U5]', async () => {
    const frame = zstdCompressSync(
      Buffer.from(Array.from({ length: 5_000 }, (_, i) => Math.imul(i, 0x9e3779b1) >>> 24)),
    );
    await refuses(decode(Buffer.from('<testsuites/>'), {}), 'NOT_A_BUNDLE', /not packed with zstd/);
    await refuses(decode(Buffer.from('<testsuites/>'), { encoding: 'gzip' }), 'NOT_A_BUNDLE', /gzip/);
    await refuses(decode(Buffer.alloc(0), {}), 'TRUNCATED', /end too early/);
    await refuses(decode(frame.subarray(0, -3), {}), 'TRUNCATED', /end too early/);
    await refuses(decode(gzipSync(TEXT).subarray(0, -3), { encoding: 'gzip' }), 'TRUNCATED', /end too early/);
    await refuses(decode(brotliCompressSync(TEXT).subarray(0, -3), { encoding: 'br' }), 'TRUNCATED', /end too early/);
    const damaged = Buffer.from(frame);
    damaged.fill(0xff, damaged.length - 40);
    await refuses(decode(damaged, { size: 100 }), 'DAMAGED', /damaged/);
  });

  it('passes an error of the source on as it is, and closes the source', async () => {
    let isClosed = false;
    async function* broken() {
      try {
        yield zstdCompressSync(TEXT).subarray(0, 10);
        throw new Error('disk on fire');
      } finally {
        isClosed = true;
      }
    }
    await assert.rejects(async () => {
      for await (const _ of decodeBody(broken(), 'zstd'));
    }, /disk on fire/);
    assert.ok(isClosed);
  });

  it('closes the source when its reader has enough', async () => {
    let isClosed = false;
    async function* endless() {
      try {
        const frame = zstdCompressSync(TEXT);
        for (;;) yield frame;
      } finally {
        isClosed = true;
      }
    }
    for await (const _ of decodeBody(endless(), 'zstd')) break;
    assert.ok(isClosed);
  });

  it('throws only its refusal on arbitrary bytes', async () => {
    const valid = zstdCompressSync(TEXT);
    const mutated = fc
      .tuple(fc.nat(valid.length - 1), fc.uint8Array({ minLength: 1, maxLength: 4 }))
      .map(([at, bytes]) => Buffer.concat([valid.subarray(0, at), bytes, valid.subarray(at + bytes.length)]));
    const anything = fc.oneof(
      mutated,
      fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    );
    await fc.assert(
      fc.asyncProperty(
        anything,
        fc.constantFrom<Encoding>('zstd', 'gzip', 'deflate', 'br'),
        async (bytes, encoding) => {
          await decode(bytes, { encoding, size: 50 }).catch((error: unknown) => assert.ok(error instanceof Unreadable));
        },
      ),
      { numRuns: 300 },
    );
  });
});

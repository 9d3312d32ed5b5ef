import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { beforeEach, describe, test } from 'node:test';
import { createMemoryStore } from '../../storage/sqlite/create-memory-store.ts';
import type { Store } from '../../storage/store.ts';
import { type BodyWriter, UploadBodies, writeFile } from './upload-body.ts';

const KIB = 1024;
const clock = { now: () => 1_700_000_000_000 };

describe('bodies of uploads', () => {
  let store: Store;
  let pieces: number[];
  let bodies: UploadBodies;
  beforeEach(() => {
    store = createMemoryStore();
    pieces = [];
    const { uploadBodies } = store;
    const append: typeof uploadBodies.append = (bodyId, fileNo, bytes, at) => {
      pieces.push(bytes.length);
      return uploadBodies.append(bodyId, fileNo, bytes, at);
    };
    bodies = new UploadBodies({ store: { ...store, uploadBodies: { ...uploadBodies, append } }, clock });
  });

  const read = async (bodyId: string, fileNo: number) => buffer(store.uploadBodies.read(bodyId, fileNo));
  const fill =
    (...files: readonly (readonly Uint8Array[])[]) =>
    async (writer: BodyWriter) => {
      for (const [index, chunks] of files.entries()) {
        await writer.begin(`${index}.xml`);
        for (const chunk of chunks) await writer.write(chunk);
      }
    };

  test('are stored in pieces of at most 256 KiB, however they come', async () => {
    const small = Array.from({ length: 700 }, (_, index) => Buffer.alloc(KIB, index));
    const large = Buffer.alloc(600 * KIB + 1, 7);
    const { body } = await bodies.receive(fill(small, [large], []));
    assert.ok((await read(body.bodyId, 0)).equals(Buffer.concat(small)));
    assert.ok((await read(body.bodyId, 1)).equals(large));
    assert.equal((await read(body.bodyId, 2)).length, 0);
    assert.equal(Math.max(...pieces), 256 * KIB);
    assert.equal(body.sizeBytes, 1_300 * KIB + 1);
  });

  test('have smaller pieces the more of them arrive at once [U22]', async () => {
    let begin: () => void = () => undefined;
    const all = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const count = 1_000;
    let waiting = 0;
    const received = Array.from({ length: count }, () =>
      bodies.receive(async (writer) => {
        await writer.begin('a.xml');
        waiting += 1;
        if (waiting === count) begin();
        await all;
        for (let chunk = 0; chunk < 5; chunk++) await writer.write(Buffer.alloc(16 * KIB));
      }),
    );
    await Promise.all(received);
    // The first bodies that end leave memory to the others.
    const sorted = pieces.toSorted((a, b) => a - b);
    assert.ok((sorted[Math.floor(sorted.length / 2)] as number) <= 80 * KIB);
    assert.equal(
      pieces.reduce((total, size) => total + size, 0),
      count * 80 * KIB,
    );
  });

  test('have a digest of their files in order, however the files are split into chunks', async () => {
    const digestOf = async (...files: readonly (readonly string[])[]) =>
      (await bodies.receive(fill(...files.map((chunks) => chunks.map((chunk) => Buffer.from(chunk)))))).body.digest;
    const inner = createHash('sha256').update('ab').digest();
    assert.equal(await digestOf(['a', 'b']), createHash('sha256').update(inner).digest('hex'));
    assert.equal(await digestOf(['ab']), await digestOf(['a', 'b']));
    const others = [
      await digestOf(['a'], ['b']),
      await digestOf(['b'], ['a']),
      await digestOf(['ab'], []),
      await digestOf(),
    ];
    assert.equal(new Set([...others, await digestOf(['ab'])]).size, 5);
  });

  test('that fail on the way leave nothing', async () => {
    let bodyId = '';
    const failing = bodies.receive(async (writer) => {
      bodyId = writer.bodyId;
      await writer.begin('a.xml');
      await writer.write(Buffer.alloc(300 * KIB));
      throw new Error('the client is gone');
    });
    await assert.rejects(failing, /the client is gone/);
    assert.equal(pieces.length, 2);
    assert.equal((await read(bodyId, 0)).length, 0);
  });

  test('without any bytes have no file', async () => {
    const bytes = (async function* () {})();
    const { body } = await bodies.receive((writer) => writeFile(writer, 'a.xml', { encoding: undefined, bytes }));
    assert.deepEqual(body.files, []);
  });
});

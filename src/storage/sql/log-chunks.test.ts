import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { Fault } from '../../lib/fault.ts';
import { encodeChunks, joinChunks, placeChunks } from './logs.ts';

const KEY = { candidateId: 'c', check: 'unit' };

describe('chunks of a log', () => {
  test('are compressed where it is worth it', () => {
    const encodings = (bytes: Uint8Array) => encodeChunks(bytes).map(({ length, encoding }) => [length, encoding]);
    assert.deepEqual(encodings(Buffer.alloc(511, 'a')), [[511, 'plain']]);
    assert.deepEqual(encodings(Buffer.alloc(512, 'a')), [[512, 'zstd']]);
    assert.deepEqual(encodings(randomBytes(512)), [[512, 'plain']]);
    assert.deepEqual(encodings(Buffer.alloc(65_536 + 3, 'a')), [
      [65_536, 'zstd'],
      [3, 'plain'],
    ]);
  });

  test('are joined to what was cut', () => {
    const bytes = Uint8Array.from(Buffer.concat([Buffer.alloc(70_000, 'ab'), randomBytes(70_000)]));
    const rows = placeChunks(KEY, 1000, encodeChunks(bytes));
    assert.deepEqual(joinChunks(rows, 1000, 1_000_000), bytes);
    assert.deepEqual(joinChunks(rows, 66_000, 67_000), bytes.slice(65_000, 66_000));
  });

  test('that are damaged are told of', () => {
    const [row] = placeChunks(KEY, 0, encodeChunks(Buffer.alloc(600, 'a')));
    assert.ok(row);
    const damaged = { ...row, data: row.data.slice(0, -4) };
    assert.throws(
      () => joinChunks([damaged], 0, 10),
      (error) => error instanceof Fault && error.code === 'STORE_UNAVAILABLE',
    );
  });
});

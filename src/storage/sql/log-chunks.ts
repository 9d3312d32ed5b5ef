import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { Fault } from '../../lib/fault.ts';
import type { LogKey } from '../logs.ts';
import type { Schema } from './schema.ts';

/** So large that it compresses well, and so small that reading a line costs little. */
const MAX_CHUNK_BYTES = 64 * 1024;
/** Less than this is not worth the time. */
const MIN_COMPRESSED_BYTES = 512;

/** A chunk that does not know its place yet. */
export type EncodedChunk = Pick<Schema['log_chunks'], 'length' | 'encoding' | 'data'>;
export type StoredChunk = Pick<Schema['log_chunks'], 'start' | 'encoding' | 'data'>;

/** Copies: the caller may use its buffer again at once. */
export function encodeChunks(bytes: Uint8Array): readonly EncodedChunk[] {
  return Array.from({ length: Math.ceil(bytes.length / MAX_CHUNK_BYTES) }, (_, index) =>
    encodeChunk(bytes.subarray(index * MAX_CHUNK_BYTES, (index + 1) * MAX_CHUNK_BYTES)),
  );
}

function encodeChunk(bytes: Uint8Array): EncodedChunk {
  const { length } = bytes;
  if (length >= MIN_COMPRESSED_BYTES) {
    const compressed = zstdCompressSync(bytes);
    if (compressed.length < length) return { length, encoding: 'zstd', data: compressed };
  }
  return { length, encoding: 'plain', data: Uint8Array.from(bytes) };
}

export function placeChunks(
  { candidateId, check }: LogKey,
  start: number,
  chunks: readonly EncodedChunk[],
): readonly Schema['log_chunks'][] {
  let next = start;
  return chunks.map((chunk) => {
    const row = { candidate_id: candidateId, check_name: check, start: next, ...chunk };
    next += chunk.length;
    return row;
  });
}

/** The bytes of consecutive chunks, from `from` until before `until`. */
export function joinChunks(chunks: readonly StoredChunk[], from: number, until: number): Uint8Array {
  const parts = chunks.map((chunk) =>
    decodeChunk(chunk).subarray(Math.max(from - chunk.start, 0), Math.max(until - chunk.start, 0)),
  );
  return Uint8Array.from(Buffer.concat(parts));
}

function decodeChunk({ encoding, data }: StoredChunk): Uint8Array {
  if (encoding === 'plain') return data;
  try {
    return zstdDecompressSync(data);
  } catch (error) {
    throw new Fault('STORE_UNAVAILABLE', 'The log cannot be read: what is stored of it is damaged.', { cause: error });
  }
}

import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { Fault } from '../../lib/fault.ts';
import type { LogKey, LogPart, LogStore } from '../logs.ts';
import { all, executeAll, first, type Operation, type SqlEngine, together } from './operation.ts';
import type { Schema } from './schema.ts';
import { callOf, inOrder, type StatementCompiler } from './statement.ts';

/** Removed in one transaction: it is over soon, and other writes come in between. */
const REMOVED_AT_ONCE = 50;

type LogStatements = ReturnType<typeof logStatements>;

export function createLogStore(engine: SqlEngine, compiler: StatementCompiler): LogStore {
  const statements = logStatements(compiler);
  const ordered = inOrder();
  return {
    append: async (key, bytes, at) => {
      if (bytes.length === 0) return;
      const chunks = encodeChunks(bytes);
      const added = { ...key, checkName: key.check, size: bytes.length, lastAt: at };
      await ordered(JSON.stringify([key.candidateId, key.check]), () =>
        engine.write(() => append(statements, added, chunks)),
      );
    },
    read: (key, offset, limit) => engine.snapshot(() => read(statements, key, { from: offset, until: offset + limit })),
    async removeBefore(before) {
      let total = 0;
      for (let removed = REMOVED_AT_ONCE; removed === REMOVED_AT_ONCE; total += removed) {
        removed = await engine.write(() => removeSome(statements, before));
      }
      return total;
    },
  };
}

type Appended = LogKey & { readonly checkName: string; readonly size: number; readonly lastAt: number };

/** The log's row stays locked until the chunks are written, so concurrent appends follow each other. */
// SPEC D6
function* append(statements: LogStatements, added: Appended, chunks: readonly EncodedChunk[]): Operation<void> {
  const log = yield* first(statements.grow, added);
  yield* executeAll(statements.insertChunks(placeChunks(added, (log?.size ?? 0) - added.size, chunks)));
}

function* read(
  statements: LogStatements,
  key: LogKey,
  range: { readonly from: number; readonly until: number },
): Operation<LogPart | undefined> {
  const [logs, chunks] = yield* together(
    callOf(statements.find, key),
    callOf(statements.listChunks, { ...key, ...range }),
  );
  const [log] = logs;
  return log && { bytes: joinChunks(chunks, range.from, range.until), size: log.size };
}

// SPEC D11
function* removeSome(statements: LogStatements, before: number): Operation<number> {
  const old = yield* all(statements.listOld, { before, limit: REMOVED_AT_ONCE });
  const keys = old.map((row) => ({ candidateId: row.candidate_id, check: row.check_name }));
  yield* executeAll(keys.flatMap((key) => [callOf(statements.removeChunks, key), callOf(statements.remove, key)]));
  return old.length;
}

const OWN = 'candidate_id = :candidateId and check_name = :check';

export function logStatements(compiler: StatementCompiler) {
  const { sql } = compiler;
  return {
    grow: sql(`
      insert into logs (candidate_id, check_name, size, last_at) values (:candidateId, :checkName, :size, :lastAt)
      on conflict (candidate_id, check_name) do update set
        size = logs.size + excluded.size,
        last_at = case when logs.last_at > excluded.last_at then logs.last_at else excluded.last_at end
      returning size`),
    find: sql(`select size from logs where ${OWN}`),
    listOld: sql(`
      select candidate_id, check_name from logs where last_at < :before limit :limit for update skip locked`),
    remove: sql(`delete from logs where ${OWN}`),
    insertChunks: compiler.insert('log_chunks'),
    /** From the chunk that `from` lies in: the last one that does not begin after it. */
    listChunks: sql(`
      select start, encoding, data from log_chunks
      where ${OWN} and start < :until and start + length > :from and start >= (
        select max(around.start) from log_chunks as around
        where around.candidate_id = :candidateId and around.check_name = :check and around.start <= :from)
      order by start`),
    removeChunks: sql(`delete from log_chunks where ${OWN}`),
  };
}

/** So large that it compresses well, and so small that reading a line costs little. */
const MAX_CHUNK_BYTES = 64 * 1024;
/** Less than this is not worth the time. */
const MIN_COMPRESSED_BYTES = 512;

/** A chunk that does not know its place yet. */
type EncodedChunk = Pick<Schema['log_chunks'], 'length' | 'encoding' | 'data'>;
type StoredChunk = Pick<Schema['log_chunks'], 'start' | 'encoding' | 'data'>;

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

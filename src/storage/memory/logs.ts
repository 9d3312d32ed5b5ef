import type { LogKey, LogPart, LogStore } from '../logs.ts';
import { frozenCopy } from './frozen-copy.ts';
import type { MemoryLog, MemoryState } from './state.ts';

export function createMemoryLogs({ logs }: MemoryState): LogStore {
  return {
    async append(key, bytes, at) {
      const name = nameOf(key);
      if (bytes.length === 0) return;
      const log = logs.get(name) ?? { chunks: [], size: 0, lastAt: at };
      log.chunks.push({ start: log.size, bytes: Uint8Array.from(bytes) });
      log.size += bytes.length;
      log.lastAt = Math.max(log.lastAt, at);
      logs.set(name, log);
    },
    async read(key, offset, limit) {
      const log = logs.get(nameOf(key));
      return log && partOf(log, offset, limit);
    },
    async removeBefore(before) {
      const old = [...logs].filter(([, { lastAt }]) => lastAt < before);
      for (const [name] of old) logs.delete(name);
      return old.length;
    },
  };
}

function partOf({ chunks, size }: MemoryLog, offset: number, limit: number): LogPart {
  const until = Math.min(offset + limit, size);
  const wanted = chunks.filter(({ start, bytes }) => start < until && start + bytes.length > offset);
  const parts = wanted.map(({ start, bytes }) => bytes.subarray(Math.max(offset - start, 0), until - start));
  return { bytes: Uint8Array.from(Buffer.concat(parts)), size };
}

function nameOf(key: LogKey): string {
  const { candidateId, check } = frozenCopy(key);
  return JSON.stringify([candidateId, check]);
}

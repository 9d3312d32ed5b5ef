import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../lib/fault.ts';
import { FULL_DISK_TEXT, fileReasonOf, isDiskFull } from './errors.ts';

/** Less than this is used up by the next few requests. */
const PROBE = Buffer.alloc(256 * 1024);
/** Load balancers ask every second, several of them at once. */
const REMEMBERED_MS = 1_000;

/**
 * Whether the disk takes a write. Reading works on a full one, and SQLite may find room in its own files for a small write and
 * none for the next.
 */
// SPEC D9
export function createRoomCheck(directory: string): () => Promise<void> {
  let last: { readonly atMs: number; readonly answer: Promise<void> } | undefined;
  return () => {
    const now = performance.now();
    if (last === undefined || now - last.atMs > REMEMBERED_MS) last = { atMs: now, answer: probe(directory) };
    return last.answer;
  };
}

async function probe(directory: string): Promise<void> {
  const file = join(directory, 'room-check');
  try {
    await writeFile(file, PROBE, { mode: 0o600 });
  } catch (error) {
    const told = isDiskFull(error) ? FULL_DISK_TEXT : undefined;
    throw new Fault('STORE_UNAVAILABLE', `The data folder cannot be written: ${fileReasonOf(error)}.`, {
      cause: error,
      told,
    });
  } finally {
    await rm(file, { force: true }).catch(() => undefined);
  }
}

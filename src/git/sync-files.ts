import { open } from 'node:fs/promises';
import { Fault } from '../lib/fault.ts';

/** Afterwards the files survive a power cut. A missing file is stored elsewhere, or was packed meanwhile. */
export async function syncFiles(files: readonly string[]): Promise<void> {
  await Promise.all(files.map(syncFile));
}

async function syncFile(file: string): Promise<void> {
  try {
    await using handle = await open(file, 'r');
    await handle.sync();
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no reason';
    if (code === 'ENOENT' || code === 'ENOTDIR') return;
    throw new Fault('FORGE_UNAVAILABLE', `The git repository cannot be written: the file system reports ${code}.`, {
      cause,
    });
  }
}

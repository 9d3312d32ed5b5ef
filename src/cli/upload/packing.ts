import { open } from 'node:fs/promises';

export type Packing = 'gzip' | 'zstd' | 'none';

/** How a file is packed, told by its first bytes; its name may say anything. */
export function packingOf(head: Uint8Array): Packing {
  const begins = (...bytes: number[]): boolean => bytes.every((byte, index) => head[index] === byte);
  if (begins(0x1f, 0x8b)) return 'gzip';
  return begins(0x28, 0xb5, 0x2f, 0xfd) ? 'zstd' : 'none';
}

export async function readHead(file: string): Promise<Uint8Array> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

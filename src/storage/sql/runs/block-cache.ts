/** Bytes of blocks that were read or written lately. A block never changes, and its stamp tells it from any other. */
export interface BlockCache {
  get(key: BlockKey): Uint8Array | undefined;
  set(key: BlockKey, data: Uint8Array): void;
}

export interface BlockKey {
  readonly repositoryId: string;
  readonly seq: number;
  readonly stamp: number;
}

export function createBlockCache(maxBytes: number): BlockCache {
  const blocks = new Map<string, Uint8Array>();
  let size = 0;
  const remove = (name: string) => {
    size -= blocks.get(name)?.length ?? 0;
    blocks.delete(name);
  };
  return {
    get(key) {
      const name = nameOf(key);
      const data = blocks.get(name);
      if (data === undefined) return undefined;
      // The one used last goes last.
      blocks.delete(name);
      blocks.set(name, data);
      return data;
    },
    set(key, data) {
      const name = nameOf(key);
      remove(name);
      blocks.set(name, data);
      size += data.length;
      for (const oldest of blocks.keys()) {
        if (size <= maxBytes) return;
        remove(oldest);
      }
    },
  };
}

function nameOf({ repositoryId, seq, stamp }: BlockKey): string {
  return `${repositoryId} ${seq} ${stamp}`;
}

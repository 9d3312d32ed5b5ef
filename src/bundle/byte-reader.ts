import { Unreadable } from './unreadable.ts';

/** Reads a stream of chunks of any size by number of bytes. It holds one chunk, or as much as is asked for at once. */
export interface ByteReader {
  /** Exactly as many; undefined: the stream had ended already. Fewer in the end are TRUNCATED. */
  read(count: number): Promise<Uint8Array | undefined>;
  /** What comes next, at least one byte and at most this many. The end is TRUNCATED. */
  take(max: number): Promise<Uint8Array>;
  skip(count: number): Promise<void>;
}

export function createByteReader(source: AsyncIterator<Uint8Array>): ByteReader {
  let rest: Uint8Array = new Uint8Array(0);
  const fill = async (): Promise<boolean> => {
    while (rest.length === 0) {
      const { done, value } = await source.next();
      if (done === true) return false;
      rest = value;
    }
    return true;
  };
  const take = async (max: number): Promise<Uint8Array> => {
    if (!(await fill())) throw new Unreadable('TRUNCATED', 'The archive ends within a file.');
    const taken = rest.subarray(0, max);
    rest = rest.subarray(taken.length);
    return taken;
  };
  return {
    take,
    read: async (count) => {
      if (count === 0) return new Uint8Array(0);
      if (!(await fill())) return undefined;
      if (rest.length >= count) return take(count);
      const whole = new Uint8Array(count);
      for (let at = 0; at < count; ) {
        const part = await take(count - at);
        whole.set(part, at);
        at += part.length;
      }
      return whole;
    },
    skip: async (count) => {
      for (let left = count; left > 0; ) left -= (await take(left)).length;
    },
  };
}

/**
 * An immutable list of (key, value) sorted by unique keys. It is split into chunks. A write copies one chunk and the
 * list of chunks, so two versions share everything else. Walking from the front costs only the items walked.
 */
export interface SortedList<V> {
  readonly size: number;
  readonly chunks: readonly (readonly Item<V>[])[];
}

interface Item<V> {
  readonly key: number;
  readonly value: V;
}

const CHUNK_LIMIT = 64;
const EMPTY: SortedList<never> = { size: 0, chunks: [] };

export function emptySortedList<V>(): SortedList<V> {
  return EMPTY;
}

export function insertSorted<V>(list: SortedList<V>, key: number, value: V): SortedList<V> {
  const item: Item<V> = { key, value };
  const at = findChunk(list, key);
  const chunk = list.chunks[at];
  if (chunk === undefined) return { size: 1, chunks: [[item]] };
  const index = lowerBound(chunk, key);
  const known = chunk[index];
  if (known?.key === key) {
    return known.value === value ? list : { size: list.size, chunks: list.chunks.with(at, chunk.with(index, item)) };
  }
  const grown = chunk.toSpliced(index, 0, item);
  const parts = grown.length <= CHUNK_LIMIT ? [grown] : [grown.slice(0, CHUNK_LIMIT / 2), grown.slice(CHUNK_LIMIT / 2)];
  return { size: list.size + 1, chunks: list.chunks.toSpliced(at, 1, ...parts) };
}

export function removeSorted<V>(list: SortedList<V>, key: number): SortedList<V> {
  const at = findChunk(list, key);
  const chunk = list.chunks[at];
  if (chunk === undefined) return list;
  const index = lowerBound(chunk, key);
  if (chunk[index]?.key !== key) return list;
  const rest = chunk.toSpliced(index, 1);
  return { size: list.size - 1, chunks: list.chunks.toSpliced(at, 1, ...(rest.length === 0 ? [] : [rest])) };
}

export function firstOf<V>(list: SortedList<V>): V | undefined {
  return list.chunks[0]?.[0]?.value;
}

/** In ascending order of keys. */
export function* walk<V>(list: SortedList<V>): Generator<V> {
  for (const chunk of list.chunks) for (const item of chunk) yield item.value;
}

/** The chunk that holds the key, or that it would be inserted into. */
function findChunk<V>({ chunks }: SortedList<V>, key: number): number {
  let low = 0;
  let high = chunks.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((chunks[middle]?.[0]?.key ?? 0) <= key) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The index of the first item whose key is not lower. */
function lowerBound<V>(chunk: readonly Item<V>[], key: number): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((chunk[middle]?.key ?? 0) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

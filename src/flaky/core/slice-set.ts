/**
 * A set of time slices as a flat list of pairs: word number and 32 bits, in order. One set exists per test, and most of
 * its slices are set.
 */
export type SliceSet = readonly number[];

const WORD_BITS = 5;
const IN_WORD = (1 << WORD_BITS) - 1;

/** Returns the same set if the slice is in it. */
export function addSlice(set: SliceSet, slice: number): SliceSet {
  const word = slice >> WORD_BITS;
  const bit = 1 << (slice & IN_WORD);
  let index = set.length - 2;
  while (index >= 0 && (set[index] as number) > word) index -= 2;
  if (index < 0 || set[index] !== word) return set.toSpliced(index + 2, 0, word, bit);
  const bits = set[index + 1] as number;
  return (bits & bit) === 0 ? set.with(index + 1, bits | bit) : set;
}

export function nextSlice(set: SliceSet, after: number): number | undefined {
  for (let index = 0; index < set.length; index += 2) {
    const first = (set[index] as number) << WORD_BITS;
    for (let slice = Math.max(first, after + 1); slice <= first + IN_WORD; slice += 1) {
      if (((set[index + 1] as number) & (1 << (slice & IN_WORD))) !== 0) return slice;
    }
  }
  return undefined;
}

/** Drops words that end before a slice. Returns the same set if there are none. */
export function pruneSlices(set: SliceSet, before: number): SliceSet {
  let first = 0;
  while (first < set.length && (set[first] as number) < before >> WORD_BITS) first += 2;
  return first === 0 ? set : set.slice(first);
}

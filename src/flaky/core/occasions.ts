/**
 * Counts the occasions on which a test failed.
 *
 * A regression fails on every commit and every retry until it is fixed, in all jobs at once. All of these failures are
 * one occasion. So a failure starts a new occasion only if the test has passed since the last one, in the same job of
 * the same branch. Order is known by slices of time: the pass must be in a slice after that of the last occasion and
 * before that of the failure.
 *
 * Dropping the oldest failures never adds an occasion: a later start moves every occasion later.
 */
import { compareRefs, compareTexts, type RunRef, type UploadFacts } from './run.ts';

/** One slice is an hour of a week. */
const SLICES = 168;
const KEPT_PLACES = 16;
const MINUTE_MS = 60_000;

/** The slices in which the test passed in one job of one branch. */
export interface PlacePasses extends OccasionKey {
  readonly slices: SliceSet;
}

/** Tests of one id in different suites pass and fail independently. */
interface OccasionKey {
  readonly branch: string;
  readonly job: string;
  /** Absent: the outermost suite, or the report did not say. */
  readonly path?: string;
}

type Place = Pick<UploadFacts, 'branch' | 'job'> & { readonly path?: string | null | undefined };

function placeOf({ branch, job, path }: Place): OccasionKey {
  return { branch, job, ...(path && { path }) };
}

function isSamePlace(one: OccasionKey, other: Place): boolean {
  return one.job === other.job && one.branch === other.branch && one.path === (other.path || undefined);
}

// SPEC F47
export function occasionSliceMs(windowMs: number): number {
  return Math.max(MINUTE_MS, Math.ceil(windowMs / SLICES / MINUTE_MS) * MINUTE_MS);
}

/** Returns the same list if the pass was known. Slices before `since` are dropped. */
export function notePass(
  places: readonly PlacePasses[],
  here: Place,
  { slice, since }: { readonly slice: number; readonly since: number },
): readonly PlacePasses[] {
  if (slice < since) return places;
  const known = places.find((place) => isSamePlace(place, here));
  const slices = addSlice(known?.slices ?? [], slice);
  if (slices === known?.slices) return places;
  const others = places.filter((place) => place !== known);
  return latestPlaces([...others, { ...placeOf(here), slices: pruneSlices(slices, since) }]);
}

/** Keeps, for each job of a branch, the latest failure in each of the last `limit` slices. */
export function keepOccasions(
  failures: readonly RunRef[],
  { sliceMs, limit }: { readonly sliceMs: number; readonly limit: number },
): readonly RunRef[] {
  const seen = new Map<string, { slices: number; last: number }>();
  return failures.toSorted(compareRefs).filter((failure) => {
    const { at } = failure;
    const key = JSON.stringify(placeOf(failure));
    const slice = Math.floor(at / sliceMs);
    const place = seen.get(key) ?? { slices: 0, last: Number.NaN };
    if (place.last === slice || place.slices === limit) return false;
    seen.set(key, { slices: place.slices + 1, last: slice });
    return true;
  });
}

/** The first failure of each occasion, newest first. */
// SPEC F46
export function findOccasions(
  failures: readonly RunRef[],
  passes: readonly PlacePasses[],
  sliceMs: number,
): readonly RunRef[] {
  const found: RunRef[] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (const failure of failures.toSorted(compareRefs).reverse()) {
    const slice = Math.floor(failure.at / sliceMs);
    if (found.length > 0 && !hasPassed(passes, failure, { after: last, before: slice })) continue;
    found.push(failure);
    last = slice;
  }
  return found.reverse();
}

function hasPassed(
  passes: readonly PlacePasses[],
  failure: RunRef,
  { after, before }: { readonly after: number; readonly before: number },
): boolean {
  const place = passes.find((other) => isSamePlace(other, failure));
  const passed = place === undefined ? undefined : nextSlice(place.slices, after);
  return passed !== undefined && passed < before;
}

/** A test that keeps running in new places loses the oldest ones: its failures there count as one occasion then. */
function latestPlaces(places: readonly PlacePasses[]): readonly PlacePasses[] {
  const kept = places.length > KEPT_PLACES ? places.toSorted(byLastPass).slice(0, KEPT_PLACES) : places;
  return kept.toSorted(comparePlaces);
}

function byLastPass(one: PlacePasses, other: PlacePasses): number {
  return lastSlices(other) - lastSlices(one) || comparePlaces(one, other);
}

function comparePlaces(one: OccasionKey, other: OccasionKey): number {
  return (
    compareTexts(one.branch, other.branch) ||
    compareTexts(one.job, other.job) ||
    compareTexts(one.path ?? '', other.path ?? '')
  );
}

/** Exact to one word of slices, which is enough for sorting. */
function lastSlices({ slices }: PlacePasses): number {
  return slices.at(-2) ?? 0;
}

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

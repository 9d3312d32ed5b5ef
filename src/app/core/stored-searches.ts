import { marksOf } from '../../engine/line/marks.ts';
import type { CandidateNumber, Member } from '../../engine/model/candidate.ts';
import type { Queue } from '../../engine/model/queue.ts';
import type { Search } from '../../engine/model/search.ts';

/** A search as version 0.2.0 stores it. Servers of that version may work on the same queue until all are upgraded. */
export interface StoredSearch extends Omit<Search, 'batch' | 'survivors' | 'members' | 'cuts' | 'isRestHeld'> {
  /** Version 0.2.0 has none. */
  readonly batch?: number;
  /** Version 0.2.0 may have several. */
  readonly chains: readonly {
    readonly number: number;
    readonly survivors: readonly Member[];
    readonly parts: readonly StoredPart[];
  }[];
}

interface StoredPart {
  readonly members: readonly Member[];
  readonly candidates: readonly CandidateNumber[];
  readonly isHeld: boolean;
}

export function encodeSearches(queue: Queue): readonly StoredSearch[] {
  return queue.bisections.map((search) => {
    const { survivors, members, cuts, isRestHeld, ...rest } = search;
    const marks = marksOf(queue, search);
    const ends = rest.how === 'halves' ? cuts : [...new Set([...marks.map(({ length }) => length), members.length])];
    const parts = ends.map((end, index) => ({
      members: members.slice(ends[index - 1] ?? 0, end),
      candidates: marks.find(({ length }) => length === end)?.runs.map(({ number }) => number) ?? [],
      isHeld: isRestHeld && index === ends.length - 1,
    }));
    return { ...rest, chains: [{ number: 1, survivors, parts }] };
  });
}

/** Runs of a later chain lack the members ahead of it. Like any pass of a search, theirs clears and lands nothing. */
export function decodeSearches(stored: readonly StoredSearch[]): readonly Search[] {
  return stored.map(({ chains, ...search }) => {
    const parts = chains.flatMap((chain) => chain.parts);
    const isInHalves = search.how === 'halves';
    const cuts = parts.map((_part, index) => parts.slice(0, index + 1).flatMap(({ members }) => members).length);
    return {
      ...search,
      batch: search.batch ?? search.number,
      survivors: chains.flatMap(({ survivors }) => survivors),
      members: parts.flatMap(({ members }) => members),
      cuts: isInHalves ? cuts : [],
      isRestHeld: isInHalves && parts.at(-1)?.isHeld === true,
      accused: search.accused,
    };
  });
}

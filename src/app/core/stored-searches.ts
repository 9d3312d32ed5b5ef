import { marksOf } from '../../engine/line/marks.ts';
import type { Candidate, CandidateNumber, Member } from '../../engine/model/candidate.ts';
import { searchNumberOf } from '../../engine/model/place.ts';
import type { Queue } from '../../engine/model/queue.ts';
import type { Search } from '../../engine/model/search.ts';
import { getIn, setIn, valuesOf } from '../../lib/int-map.ts';

/**
 * A search as version 0.2.0 stores it: chains of parts with their runs. Servers of that version may work on the same
 * queue until all are upgraded, so searches are still stored in this shape.
 */
export interface StoredSearch extends Omit<Search, 'survivors' | 'members' | 'cuts' | 'isRestHeld'> {
  /** Version 0.2.0 has several. All but the first are searches of their own. */
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

export function decodeSearches(stored: readonly StoredSearch[], ever: number): Pick<Queue, SearchField> {
  let bisectionsEver = ever;
  const bisections = stored.flatMap(({ chains, ...search }) =>
    chains.map(({ survivors, parts }, index): Search => {
      if (index > 0) bisectionsEver += 1;
      const isInHalves = search.how === 'halves';
      const members = parts.flatMap((part) => part.members);
      const cuts = parts.map((_part, at) => parts.slice(0, at + 1).flatMap((part) => part.members).length);
      return {
        ...search,
        number: index > 0 ? bisectionsEver : search.number,
        survivors,
        members,
        cuts: isInHalves ? cuts : [],
        isRestHeld: isInHalves && parts.at(-1)?.isHeld === true,
        accused: search.accused,
      };
    }),
  );
  return { bisections, bisectionsEver };
}

type SearchField = 'bisections' | 'bisectionsEver';

/** Entries and runs of a chain that became a search name the search that it was part of. */
export function withLinkedSearches(queue: Queue): Queue {
  if (queue.bisections.length === 0) return queue;
  let { entries, candidates } = queue;
  for (const { number, members } of queue.bisections) {
    for (const { prNumber } of members) {
      const entry = getIn(entries, prNumber);
      if (entry !== undefined && searchNumberOf(entry) !== number)
        entries = setIn(entries, prNumber, { ...entry, place: { kind: 'search', search: number } });
    }
  }
  for (const candidate of valuesOf(candidates)) {
    const { purpose } = candidate;
    const bisection = purpose.kind === 'bisection' ? searchOf(queue, candidate) : undefined;
    if (purpose.kind !== 'bisection' || bisection === undefined || bisection === purpose.bisection) continue;
    candidates = setIn(candidates, candidate.number, { ...candidate, purpose: { ...purpose, bisection } });
  }
  return { ...queue, entries, candidates };
}

function searchOf({ bisections }: Queue, { members }: Candidate): number | undefined {
  const last = members.at(-1)?.submission;
  return bisections.find((search) => search.members.some(({ submission }) => submission === last))?.number;
}

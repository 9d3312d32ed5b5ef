import type { Candidate, Member } from '../../engine/candidate.ts';
import type { Queue } from '../../engine/queue.ts';
import type { Search } from '../../engine/search.ts';
import { getIn, setIn, valuesOf } from '../../lib/int-map.ts';

/** A search as version 0.2.0 and earlier ones stored it. */
interface OldSearch extends Omit<Search, 'survivors' | 'members' | 'cuts' | 'isRestHeld'> {
  /** All but the first are searches of their own now. */
  readonly chains: readonly {
    readonly survivors: readonly Member[];
    readonly parts: readonly { readonly members: readonly Member[]; readonly isHeld: boolean }[];
  }[];
}

export type StoredSearch = Search | OldSearch;

type Searches = Pick<Queue, 'bisections' | 'bisectionsEver'>;

export function decodeSearches(stored: readonly StoredSearch[], ever: number): Searches {
  let bisectionsEver = ever;
  const bisections = stored.flatMap((search): readonly Search[] => {
    if (!('chains' in search)) return [{ ...search, accused: search.accused }];
    const { chains, ...rest } = search;
    return chains.map(({ survivors, parts }, index) => {
      if (index > 0) bisectionsEver += 1;
      let length = 0;
      const cuts = parts.map(({ members }) => (length += members.length));
      return {
        ...rest,
        number: index > 0 ? bisectionsEver : rest.number,
        accused: rest.accused,
        survivors,
        members: parts.flatMap(({ members }) => members),
        cuts: rest.how === 'prefixes' ? [] : cuts,
        isRestHeld: rest.how !== 'prefixes' && parts.at(-1)?.isHeld === true,
      };
    });
  });
  return { bisections, bisectionsEver };
}

/** Entries and runs of a chain that became a search name the search that it was part of. */
export function withLinkedSearches(queue: Queue): Queue {
  if (queue.bisections.length === 0) return queue;
  let { entries, candidates } = queue;
  for (const { number, members } of queue.bisections) {
    for (const { prNumber } of members) {
      const entry = getIn(entries, prNumber);
      if (entry !== undefined && entry.bisection !== number)
        entries = setIn(entries, prNumber, { ...entry, bisection: number });
    }
  }
  for (const candidate of valuesOf(candidates)) {
    const bisection = searchOf(queue, candidate);
    if (candidate.purpose.kind !== 'bisection' || bisection === undefined) continue;
    if (bisection !== candidate.purpose.bisection)
      candidates = setIn(candidates, candidate.number, { ...candidate, purpose: { ...candidate.purpose, bisection } });
  }
  return { ...queue, entries, candidates };
}

function searchOf({ bisections }: Queue, { members }: Candidate): number | undefined {
  const last = members.at(-1)?.submission;
  return bisections.find((search) => search.members.some(({ submission }) => submission === last))?.number;
}

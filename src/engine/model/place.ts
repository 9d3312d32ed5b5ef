import type { Candidate, CandidateNumber } from './candidate.ts';
import type { PrNumber } from './pull-request.ts';

/** Where an entry is. */
export type Place =
  /** It waits for its admission or for its turn. */
  | { readonly kind: 'waiting' }
  /** The candidate tests it in the line or as a repair, or lands it directly. */
  | { readonly kind: 'line'; readonly candidate: CandidateNumber }
  /** The search tests it. It is out of the line meanwhile. */
  | { readonly kind: 'search'; readonly search: number }
  /** It conflicts with this entry ahead. Until that one ends, it is ahead of and behind no other. */
  | { readonly kind: 'aside'; readonly behind: PrNumber };

interface Placed {
  readonly place: Place;
}

export const WAITING: Place = { kind: 'waiting' };

export function inLine({ number: candidate }: Pick<Candidate, 'number'>): Place {
  return { kind: 'line', candidate };
}

export function candidateNumberOf({ place }: Placed): CandidateNumber | undefined {
  return place.kind === 'line' ? place.candidate : undefined;
}

export function searchNumberOf({ place }: Placed): number | undefined {
  return place.kind === 'search' ? place.search : undefined;
}

/** The entry that it is set aside for. */
export function conflictOf({ place }: Placed): PrNumber | undefined {
  return place.kind === 'aside' ? place.behind : undefined;
}

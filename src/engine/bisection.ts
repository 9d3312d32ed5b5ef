import type { Base, CandidateNumber, Member } from './candidate.ts';

/**
 * The search for the members of a failed batch that are to blame. It has its own base, which stays the same when the
 * target branch moves, and its own slots.
 */
export interface Bisection {
  readonly number: number;
  readonly base: Base;
  /** The target branch is still the base plus entries that this bisection cleared. */
  readonly isOnHead: boolean;
  readonly chains: readonly Chain[];
  /** Sets of pull requests (see `setKey`) that failed in this bisection. */
  readonly failedSets: readonly string[];
}

/** Parts that are tested on top of each other. Each is tested on the survivors and all parts before it. */
export interface Chain {
  /** Counts from 1 within the bisection. */
  readonly number: number;
  /** The members cleared so far, in order. They are back in the line and may have landed. */
  readonly survivors: readonly Member[];
  readonly parts: readonly SearchPart[];
}

export interface SearchPart {
  readonly members: readonly Member[];
  /** The candidate that tests it; undefined before that. */
  readonly candidate: CandidateNumber | undefined;
  /** It was behind a part that failed. It is not tested before everything ahead of it is decided. */
  readonly isHeld: boolean;
}

export function setKey(members: readonly Member[]): string {
  return members
    .map(({ prNumber }) => prNumber)
    .sort((a, b) => a - b)
    .join(',');
}

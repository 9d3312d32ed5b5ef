import type { Base, CandidateNumber, Member } from './candidate.ts';

/**
 * The search for the members of a failed batch that are to blame. It has a base of its own, which nothing that happens
 * to the target changes, and slots of its own.
 */
export interface Bisection {
  readonly number: number;
  readonly base: Base;
  /** The target is still the base and what this bisection cleared. */
  readonly isOnHead: boolean;
  readonly chains: readonly Chain[];
  /** Sets of pull requests (see `setKey`) that failed in this bisection. */
  readonly failedSets: readonly string[];
}

/** Parts that are tested on top of each other: each on the survivors and all the parts before it. */
export interface Chain {
  /** Counted within the bisection. */
  readonly number: number;
  /** Cleared so far, in order. They are back in the line and may have landed. */
  readonly survivors: readonly Member[];
  readonly parts: readonly SearchPart[];
}

export interface SearchPart {
  readonly members: readonly Member[];
  /** The candidate that tests it, once one does. */
  readonly candidate: CandidateNumber | undefined;
  /** It stood behind a part that failed: it is not tested before everything ahead of it is decided. */
  readonly isHeld: boolean;
}

export function setKey(members: readonly Member[]): string {
  return members
    .map(({ prNumber }) => prNumber)
    .sort((a, b) => a - b)
    .join(',');
}

import type { Base, CandidateNumber, Member } from './candidate.ts';

/**
 * The search for the members of a failed batch that are to blame. It has its own base, which stays the same when the
 * target branch moves, and its own slots.
 */
export interface Bisection {
  readonly number: number;
  /**
   * halves: parts are split in two, and each part is tested on the parts before it. prefixes: runs test the survivors
   * and the first members, in any length.
   */
  readonly how: 'halves' | 'prefixes';
  readonly base: Base;
  /** The target branch is still the base plus entries that this bisection cleared. */
  readonly isOnHead: boolean;
  readonly chains: readonly Chain[];
  /** Sets of pull requests (see `setKey`) that failed in this bisection. */
  readonly failedSets: readonly string[];
  /** How many admissions the queue had when it began. An entry that was admitted later was not ahead of its members. */
  readonly admissions: number;
  /** prefixes: its first member failed on the base and the survivors, and nothing else is left in the search. */
  readonly accused: Accused | undefined;
}

/** An accused entry is removed only after everything that was ahead of it has ended. */
export interface Accused {
  /** Everything ahead had ended when the base was chosen, so a failure on it decides. */
  readonly isLast: boolean;
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
  /**
   * The candidates that test it together with everything before it. A search in halves has at most one, a search in
   * prefixes repeats a run to confirm a failure.
   */
  readonly candidates: readonly CandidateNumber[];
  /** It was behind a part that failed. It is not tested before everything ahead of it is decided. */
  readonly isHeld: boolean;
}

export function setKey(members: readonly Member[]): string {
  return members
    .map(({ prNumber }) => prNumber)
    .sort((a, b) => a - b)
    .join(',');
}

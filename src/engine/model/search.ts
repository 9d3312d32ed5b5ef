import type { Instant } from '../../lib/clock.ts';
import type { Base, Member } from './candidate.ts';
import type { Question } from './question.ts';

/**
 * The search for the entries that make a run fail. Its members are in order. Every run tests the survivors and the first
 * members up to some length. A search has its own base, which stays the same when the target branch moves. Its runs are
 * the live candidates with its number.
 */
export interface Search {
  readonly number: number;
  /** The number of the search that the failed batch began with. Its parts may be in searches of their own. */
  readonly batch: number;
  /**
   * halves: the members are cut into parts, each is tested on all before it, and the first part is decided first
   * (halves.ts). prefixes: a run tests all its members alike, and the longest pass and the shortest failure decide
   * (prefix-search.ts).
   */
  readonly how: 'halves' | 'prefixes';
  readonly base: Base;
  /** The target branch is still the base plus entries that this search cleared. */
  readonly isOnHead: boolean;
  /** The members cleared so far, in order. They are back in the line and may have landed. */
  readonly survivors: readonly Member[];
  /** The members that are not decided. A search without members has ended. */
  readonly members: readonly Member[];
  /** halves: where each part ends. */
  readonly cuts: readonly number[];
  /** halves: the last part was behind one that failed. It is not tested before everything ahead of it is decided. */
  readonly isRestHeld: boolean;
  /** halves: the sets of pull requests (see `setKey`) that failed. */
  readonly failedSets: readonly string[];
  /** How the group failed that its first member is the culprit of (`signsOfRun`). */
  readonly signs?: readonly string[];
  /** Absent until the reports of a failed run are read. */
  readonly asking?: Asking;
  /** How many admissions the queue had when it began. An entry that was admitted later was not ahead of its members. */
  readonly admissions: number;
  /** prefixes: its first member failed on the base and the survivors, and nothing else is left in the search. */
  readonly accused: Accused | undefined;
}

/** The question of a search. */
export interface Asking {
  /** Absent: all tests run. */
  readonly question?: Question;
  /** Nothing else failed in the run that the question follows from, and all its tests ran. */
  readonly isWhole?: true;
  /** When the last probes ran that passed. */
  readonly passed?: readonly { readonly since: Instant; readonly at: Instant }[];
}

/** An accused entry is removed only after everything that was ahead of it has ended. */
export interface Accused {
  /**
   * Everything ahead had ended when the base was chosen, and nothing that was ahead has landed since. So a failure on it
   * decides.
   */
  readonly isLast: boolean;
}

/** halves: the members of one part. */
export function partOf({ members, cuts }: Pick<Search, 'members' | 'cuts'>, index: number): readonly Member[] {
  return members.slice(cuts[index - 1] ?? 0, cuts[index]);
}

export function setKey(members: readonly Member[]): string {
  return members
    .map(({ prNumber }) => prNumber)
    .sort((a, b) => a - b)
    .join(',');
}

import type { Member } from './candidate.ts';
import type { Queue } from './queue.ts';

/**
 * A strategy decides how many entries to group, where to split a failed group and how far to speculate. It cannot make
 * anything pass, fail or land.
 */
export interface Strategy {
  /** The size at which a group starts at once, and its largest size. 1 tests every entry alone. */
  groupSize(queue: Queue): number;
  /** How many members of a failed group go into its first part, from 1 to one less than all. */
  splitAt(queue: Queue, members: readonly Member[]): number;
  /** How many candidates of the line may be under test at once. */
  slots(queue: Queue): number;
  /** How many unlanded candidates may be beneath a candidate under test. */
  reach(queue: Queue): number;
}

/** Follows the settings exactly: groups of the set size, halves, and as many candidates as `concurrency`. */
// SPEC I5
export const REFERENCE_STRATEGY: Strategy = {
  groupSize: ({ settings }) => (settings.batch ? settings.batchingMinSize : 1),
  splitAt: (_queue, members) => Math.ceil(members.length / 2),
  slots: ({ settings }) => settings.concurrency,
  reach: ({ settings }) => settings.concurrency,
};

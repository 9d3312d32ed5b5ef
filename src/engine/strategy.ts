import type { Member } from './candidate.ts';
import type { Queue } from './queue.ts';

/**
 * What to test next is a matter of taste and of figures: how many entries to group, where to split a failed group, how
 * far to speculate. A strategy answers these three questions and no other: whatever it says, it cannot make anything pass,
 * fail or land.
 */
export interface Strategy {
  /** The size at which a group is tested at once, and its largest size; 1 tests every entry alone. */
  groupSize(queue: Queue): number;
  /** How many members of a failed group go into its first part: from 1 to one less than there are. */
  splitAt(queue: Queue, members: readonly Member[]): number;
  /** How many candidates may be under test in the line at once. */
  slots(queue: Queue): number;
  /** How many candidates that have not landed may lie beneath one under test. */
  reach(queue: Queue): number;
}

/** The settings, to the letter: groups of the given size, halves, as many candidates as there are slots. */
export const REFERENCE_STRATEGY: Strategy = {
  groupSize: ({ settings }) => (settings.batch ? settings.batchingMinSize : 1),
  splitAt: (_queue, members) => Math.ceil(members.length / 2),
  slots: ({ settings }) => settings.concurrency,
  reach: ({ settings }) => settings.concurrency,
};

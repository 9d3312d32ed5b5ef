import type { Instant } from '../lib/clock.ts';
import type { Group } from './batch.ts';
import type { Queue } from './queue.ts';

/**
 * A strategy proposes what to test next. It cannot make anything pass, fail or land: plan.ts carries out a proposal only
 * if the queue may test and a slot is free, and the verdicts look at results alone.
 */
export interface Strategy {
  /** In order of preference. It is asked again after each round in which something started. */
  propose(queue: Queue, at: Instant): readonly Proposal[];
  /** When it would propose something else although nothing happened; undefined if only events change its mind. */
  wakeAt(queue: Queue, now: Instant): Instant | undefined;
}

export type Proposal =
  /** Test these pending entries as a candidate of the line, on everything ahead that they overlap with. */
  | { readonly kind: 'line'; readonly group: Pick<Group, 'id' | 'entries' | 'ahead'> }
  /** Take these pending entries out of the line and test them on the head. A pass clears them, it lands nothing. */
  | { readonly kind: 'search'; readonly entries: Group['entries'] }
  /** Test the survivors of a search and its first `length` members. `isAgain`: even if the same tree is under test. */
  | { readonly kind: 'prefix'; readonly search: number; readonly length: number; readonly isAgain?: true };

import type { Instant } from '../../lib/clock.ts';
import type { Entry, Queue } from './queue.ts';
import type { NodeId } from './targets.ts';

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

/**
 * Pending entries that one candidate would test together. Groups are in the order in which they would be tested. A
 * group is behind every candidate and every earlier group that it overlaps with.
 */
export interface Group {
  readonly id: NodeId;
  readonly entries: readonly Entry[];
  /** All candidates and groups that it is behind, directly or not. */
  readonly ahead: ReadonlySet<NodeId>;
  /** It starts as soon as a slot is free: it is full, cannot grow, or has waited long enough for others. */
  readonly fires: boolean;
  /** When it has waited long enough for others; undefined if it does not wait. */
  readonly waitsUntil: number | undefined;
}

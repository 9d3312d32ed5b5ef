import { formGroups } from '../engine/line/batch.ts';
import type { Entry, Queue } from '../engine/model/queue.ts';
import { admittedInOrder } from '../engine/model/roster.ts';
import type { Group } from '../engine/model/strategy.ts';
import type { Instant } from '../lib/clock.ts';
import type { Beyond, ExplanationReason } from './explanation.ts';
import type { NamedPr } from './phrases.ts';

/** The queue at an instant, with facts from beyond it about the explained entry. */
export interface View {
  readonly queue: Queue;
  readonly now: Instant;
  readonly beyond: Beyond;
  /** The reasons of another entry, to this depth. */
  readonly why: (entry: Entry, depth: number) => ExplanationReason[];
}

const orders = new WeakMap<Queue, readonly Entry[]>();
const groups = new WeakMap<Queue, { readonly at: Instant; readonly groups: readonly Group[] }>();

/** The admitted entries in order. A queue is immutable, so all explanations of a list share them. */
export function orderOf(queue: Queue): readonly Entry[] {
  const order = orders.get(queue) ?? admittedInOrder(queue);
  orders.set(queue, order);
  return order;
}

/** The groups in which pending entries would be tested. The explanations of a list are of one instant and share them. */
export function groupsOf({ queue, now: at }: View): readonly Group[] {
  const known = groups.get(queue);
  if (known?.at === at) return known.groups;
  const formed = formGroups(queue, at);
  groups.set(queue, { at, groups: formed });
  return formed;
}

export function named({ prNumber, pr }: Entry): NamedPr {
  return { prNumber, title: pr.title };
}

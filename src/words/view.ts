import { formGroups } from '../engine/line/batch.ts';
import type { Entry, Queue } from '../engine/model/queue.ts';
import { admittedInOrder } from '../engine/model/roster.ts';
import type { Group } from '../engine/model/strategy.ts';
import type { Instant } from '../lib/clock.ts';
import { memo } from '../lib/memo.ts';
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

/** The admitted entries in order. A queue is immutable, so all explanations of a list share them. */
export const orderOf: (queue: Queue) => readonly Entry[] = memo(admittedInOrder);

/** The groups in which pending entries would be tested. The explanations of a list are of one instant and share them. */
export function groupsOf({ queue, now }: View): readonly Group[] {
  return groupsAt(queue, now);
}

const groupsAt = memo((queue: Queue, at: Instant) => formGroups(queue, at));

export function named({ prNumber, pr }: Entry): NamedPr {
  return { prNumber, title: pr.title };
}

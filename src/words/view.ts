import type { Entry, Queue } from '../engine/queue.ts';
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

export function named({ prNumber, pr }: Entry): NamedPr {
  return { prNumber, title: pr.title };
}

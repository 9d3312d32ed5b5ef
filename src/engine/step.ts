import type { QueueEvent } from './event.ts';
import { evolve } from './evolve.ts';
import { plan } from './plan.ts';
import type { Entry, Queue } from './queue.ts';
import type { Outcome, Transition, Work } from './work.ts';

/**
 * The one function that changes a queue. It folds what happened into the state (evolve), then decides what follows from
 * the state (plan), and returns everything as values: nothing is executed, nothing is asked, no clock is read.
 *
 * An entry's life, as far as it is decided here:
 *
 *   submitted -> NOT_READY -> PENDING (ready, and the queue admits) -> MERGED (by hand) or CANCELLED
 *
 * A submission always passes through NOT_READY, also when the entry is admitted in the same step: the timeline shows
 * both. NOT_READY entries hold no place; a push to one only changes what it needs, while a push to an admitted one
 * cancels it. A queue that is PAUSED, DRAINING or SWITCHING_MODES admits nobody.
 */
export function step(queue: Queue, event: QueueEvent): Step {
  const work: Work = { before: queue, queue, at: event.at, transitions: [], ended: [] };
  const outcome = evolve(work, event);
  if (outcome.kind === 'refused') return { queue, outcome, transitions: [], ended: [] };
  plan(work);
  return { queue: work.queue, outcome, transitions: work.transitions, ended: work.ended };
}

export interface Step {
  readonly queue: Queue;
  readonly outcome: Outcome;
  readonly transitions: readonly Transition[];
  /** Entries that left the queue, as they were when they left. */
  readonly ended: readonly Entry[];
}

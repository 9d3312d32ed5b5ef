import type { QueueEvent } from './event.ts';
import { evolve } from './evolve.ts';
import { findBreach } from './invariants.ts';
import { plan } from './plan.ts';
import type { Queue } from './queue.ts';
import { REFERENCE_STRATEGY, type Strategy } from './strategy.ts';
import type { Outcome, Step, Work } from './work.ts';

export type { Step } from './work.ts';

/**
 * The one function that changes a queue. It folds what happened into the state (evolve), then decides what follows from
 * the state (plan), and returns everything as values: nothing is executed, nothing is asked, no clock is read.
 *
 * An entry's life:
 *
 *   submitted -> NOT_READY -> PENDING -> TESTING -> TESTS_PASSED -> MERGED
 *                               ^  ^        |            |
 *                               |  |        v            | (what it was tested with left, or the target was moved)
 *                               |  +- PENDING_FAILURE <--+
 *                               |           |
 *                     (bisection)           v
 *                               +------- FAILED, once nobody else can be to blame
 *
 * Entries in the line are tested in candidates: the target's head, the entries ahead, and the entries under test, built
 * into one commit. Example, with three slots and the target at M:
 *
 *   submit A B C          candidates M+A, M+A+B, M+A+B+C: all three are built and tested at once
 *   M+A+B fails           B is PENDING_FAILURE: it may be A's fault
 *   M+A passes            A lands: the target is M+A. Now the failure is B's own, and B leaves as FAILED
 *                         M+A+B+C contained B and is abandoned; C is tested again on the target, as M+A+C
 *   M+A+C passes          C lands by moving the target to exactly the commit that passed
 *
 * In parallel mode entries that share no target do not stand in each other's way: A and B above would be tested as M+A and
 * M+B, and land in any order. Single mode is parallel mode in which every entry impacts everything.
 *
 * Who owns what: evolve folds facts and concludes nothing but what a fact says by itself; verdict.ts says what passed,
 * what failed and who is to blame; suspicion.ts and hold.ts say when the target branch is; vouch.ts says which passes cover
 * others; plan.ts says who enters, what lands and what is tested next; strategy.ts says how much at once; bisect.ts
 * searches failed batches; line.ts is the only way out of the line; work.ts records.
 */
export function step(queue: Queue, event: QueueEvent, strategy: Strategy = REFERENCE_STRATEGY): Step {
  try {
    const result = take(queue, event, strategy);
    const breach = result.outcome.kind === 'applied' ? findBreach(queue, result) : undefined;
    return breach === undefined ? result : park(queue, event, breach);
  } catch (error) {
    return park(queue, event, error instanceof Error ? error.message : String(error));
  }
}

function take(queue: Queue, event: QueueEvent, strategy: Strategy): Step {
  const work: Work = {
    before: queue,
    queue,
    at: event.at,
    strategy,
    transitions: [],
    effects: [],
    ended: [],
    endedCandidates: [],
  };
  const outcome = evolve(work, event);
  if (outcome.kind !== 'applied') return unchanged(queue, outcome);
  plan(work);
  const { transitions, effects, ended, endedCandidates } = work;
  return { queue: work.queue, outcome, transitions, effects, ended, endedCandidates };
}

/**
 * The event is not folded in: the queue stays as it was. It still takes submissions and results, but starts and lands
 * nothing until an operator has looked and set it to RUNNING.
 */
function park(queue: Queue, event: QueueEvent, reason: string): Step {
  const parked = queue.parked ?? { reason, since: event.at };
  const text = `The queue for ${queue.branch} is parked at a ${event.kind}: ${reason}. Set it to RUNNING to go on.`;
  return {
    ...unchanged({ ...queue, parked }, { kind: 'parked', detail: reason }),
    effects: [{ kind: 'raise_alarm', code: 'QUEUE_PARKED', text }],
  };
}

function unchanged(queue: Queue, outcome: Outcome): Step {
  return { queue, outcome, transitions: [], effects: [], ended: [], endedCandidates: [] };
}

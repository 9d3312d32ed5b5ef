import { evolve } from './facts/evolve.ts';
import { noteFreeze } from './line/frozen.ts';
import { findBreach } from './line/invariants.ts';
import type { Candidate } from './model/candidate.ts';
import type { QueueEvent } from './model/event.ts';
import { findCandidate, type Queue } from './model/queue.ts';
import type { Strategy } from './model/strategy.ts';
import { addTotals } from './model/totals.ts';
import type { Outcome, Step, Work } from './model/work.ts';
import { plan } from './plan.ts';

export type { Step } from './model/work.ts';

/**
 * The one function that changes a queue. It applies an event to the state (evolve), decides what follows from the state
 * (plan), and returns everything as values. It executes nothing, asks no one and reads no clock.
 *
 * The states of an entry:
 *
 *   submitted -> NOT_READY -> PENDING -> TESTING -> TESTS_PASSED -> MERGED
 *                               ^  ^        |            |
 *                               |  |        v            | (an entry beneath it left, or the branch was pushed to)
 *                               |  +- PENDING_FAILURE <--+
 *                               |           |
 *                     (bisection)           v
 *                               +------- FAILED, once no other entry can be to blame
 *
 * Entries in the line are tested in candidates. A candidate is the head of the target branch, the entries ahead and the
 * entries under test, built into one commit. Example with three slots and the target branch at M:
 *
 *   submit A B C          candidates M+A, M+A+B, M+A+B+C: all three are built and tested at once
 *   M+A+B fails           B is PENDING_FAILURE: it may be A's fault
 *   M+A passes            A lands: the head is M+A. Now the failure is B's own, and B leaves as FAILED
 *                         M+A+B+C contained B and is abandoned; C is tested again on the head, as M+A+C
 *   M+A+C passes          C lands by moving the target branch to exactly the commit that passed
 *
 * In parallel mode, entries that share no impacted target are independent: A and B above would be tested as M+A and M+B,
 * and land in any order. Single mode is parallel mode in which every entry impacts everything.
 *
 * facts/ applies events. evidence/judge.ts decides what passed and failed, line/vouch.ts which passes cover other entries,
 * search/verdict.ts who is to blame, evidence/suspicion.ts and hold.ts when it is the target branch. plan.ts admits, lands
 * and starts tests; policy/ proposes which. search/ searches failed groups. line/ starts, replaces and abandons candidates.
 * model/work.ts records transitions and effects.
 */
// SPEC I3
export function step(queue: Queue, event: QueueEvent, strategy?: Strategy): Step {
  try {
    const result = take(queue, event, strategy);
    const breach = result.outcome.kind === 'applied' ? findBreach(queue, result) : undefined;
    return breach === undefined ? result : park(queue, event, breach);
  } catch (error) {
    return park(queue, event, error instanceof Error ? error.message : String(error));
  }
}

function take(queue: Queue, event: QueueEvent, strategy: Strategy | undefined): Step {
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
  // A landing must not begin in a freeze whose begin no timer has told of yet.
  noteFreeze(work);
  const outcome = evolve(work, event);
  if (outcome.kind !== 'applied') return unchanged(queue, outcome);
  plan(work);
  const { transitions, effects, ended, endedCandidates } = work;
  const totals = addTotals(work.queue.totals, { transitions, endedCandidates: newlyEnded(work) });
  return {
    queue: totals === work.queue.totals ? work.queue : { ...work.queue, totals },
    outcome,
    transitions,
    effects,
    ended,
    endedCandidates,
  };
}

/** A late result of a candidate that had ended before is recorded once more, and does not count again. */
function newlyEnded({ before, endedCandidates }: Work): readonly Candidate[] {
  return endedCandidates.filter(
    ({ number }) => number > before.candidatesEver || findCandidate(before, number) !== undefined,
  );
}

/**
 * Does not apply the event. A parked queue accepts submissions and results, but starts and lands nothing until an
 * operator sets it to RUNNING.
 */
// SPEC I1
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

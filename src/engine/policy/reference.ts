import type { Instant } from '../../lib/clock.ts';
import { firstOf } from '../../lib/sorted-list.ts';
import { type Demand, formGroups, hopsBehind } from '../line/batch.ts';
import { startableIn } from '../line/marks.ts';
import { freeSlots } from '../line/slots.ts';
import { isFailure } from '../line/vouch.ts';
import type { Candidate } from '../model/candidate.ts';
import { policyOf } from '../model/policy.ts';
import { findEntry, mayStartTests, type Queue } from '../model/queue.ts';
import { lineOf } from '../model/roster.ts';
import type { Group, Proposal, Strategy } from '../model/strategy.ts';
import type { NodeId } from '../model/targets.ts';
import { proposePrefixes } from '../search/prefixes.ts';

/**
 * Follows the settings exactly: groups of the set size, searches in halves, and as many candidates on top of each other
 * as `concurrency`. It also finishes searches that ADAPTIVE began.
 */
export const REFERENCE_STRATEGY: Strategy = {
  propose: (queue, at) => {
    const [searches, groups] = [proposeSearches(queue), proposeGroups(queue, at)];
    // A run of a search that gave its slot to an urgent entry must not take it back.
    return isUrgentWaiting(queue) ? [...groups, ...searches] : [...searches, ...groups];
  },
  wakeAt: batchWaitsUntil,
};

/** The oldest search first. */
export function proposeSearches(queue: Queue): Proposal[] {
  return queue.bisections.flatMap((search) => {
    if (search.how === 'prefixes') return proposePrefixes(queue, search);
    return startableIn(queue, search) < 0 ? [] : { kind: 'prefix', search: search.number, length: 0 };
  });
}

function isUrgentWaiting(queue: Queue): boolean {
  const first = firstOf(queue.index.pending);
  return first !== undefined && findEntry(queue, first)?.priority.value === 0;
}

function proposeGroups(queue: Queue, at: Instant): Proposal[] {
  const { pending } = queue.index;
  const first = firstOf(pending);
  const slots = freeSlots(queue);
  if (first === undefined || (slots <= 0 && !isUrgentWaiting(queue))) return [];
  const gate = new Gate(queue);
  const groups = formGroups(queue, at, gate.demand(isUrgentWaiting(queue) ? pending.size : slots));
  return groups.filter((group) => group.fires && gate.lets(group, groups)).map((group) => ({ kind: 'line', group }));
}

/** Only waits in the future count. A group that may start and does not waits for something else than time. */
function batchWaitsUntil(queue: Queue, now: Instant): Instant | undefined {
  // Forming groups is expensive, and without a free slot none would start.
  if (!policyOf(queue).batch || !mayStartTests(queue) || freeSlots(queue) <= 0) return undefined;
  const waits = formGroups(queue, now).flatMap(({ waitsUntil }) =>
    waitsUntil !== undefined && waitsUntil > now ? [waitsUntil] : [],
  );
  return waits.length === 0 ? undefined : Math.min(...waits);
}

/** Decides which groups may start now. A group may not start too deep in the line or behind an unsettled failure. */
class Gate {
  readonly #queue: Queue;
  readonly #failures: readonly Candidate[];
  readonly #reach: number;
  readonly #depth: number;
  readonly #hops = new Map<NodeId, ReadonlyMap<NodeId, number>>();

  constructor(queue: Queue) {
    this.#queue = queue;
    this.#failures = lineOf(queue).filter((candidate) => isFailure(queue, candidate));
    this.#reach = queue.settings.concurrency;
    this.#depth = policyOf(queue).pendingFailureDepth;
  }

  demand(slots: number): Demand {
    const isInReach = (ahead: ReadonlySet<NodeId>) => ahead.size <= this.#reach;
    // Within the depth, entries behind a failure may start. The depth is known only after all groups are formed.
    if (this.#failures.length > 0 && this.#depth > 0) return { limit: Number.POSITIVE_INFINITY, canStart: isInReach };
    return { limit: slots, canStart: (ahead) => isInReach(ahead) && !this.#isBehindFailure(ahead) };
  }

  // SPEC C23
  lets(group: Group, groups: readonly Group[]): boolean {
    if (group.ahead.size > this.#reach) return false;
    if (this.#depth === 0) return !this.#isBehindFailure(group.ahead);
    return this.#failures.every((failure) => {
      if (!group.ahead.has(failure.number)) return true;
      const hops = this.#hopsFrom(failure, groups).get(group.id);
      return hops !== undefined && hops <= this.#depth;
    });
  }

  #hopsFrom(failure: Candidate, groups: readonly Group[]): ReadonlyMap<NodeId, number> {
    const known = this.#hops.get(failure.number);
    if (known !== undefined) return known;
    const hops = new Map(hopsBehind(this.#queue, failure, groups).map((successor) => [successor.id, successor.hops]));
    this.#hops.set(failure.number, hops);
    return hops;
  }

  // SPEC V7
  #isBehindFailure(ahead: ReadonlySet<NodeId>): boolean {
    return this.#failures.some(({ number }) => ahead.has(number));
  }
}

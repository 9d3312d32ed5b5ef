import { valuesOf } from '../../lib/int-map.ts';
import { memo } from '../../lib/memo.ts';
import type { PrNumber } from '../model/pull-request.ts';
import { type Entry, isAdmitted, type Queue } from '../model/queue.ts';
import { isReady, readinessOf } from '../model/readiness.ts';
import { entriesBelow, needsOf } from '../model/stack.ts';

/**
 * How many entries of the line each submitter has. A stack counts as one for each who submitted a part of it. It is
 * known by the lowest entry.
 */
interface Shares {
  /** By the id of the submitter. */
  readonly stacks: ReadonlyMap<string, ReadonlySet<PrNumber>>;
  /** By the number of the entry below. */
  readonly above: ReadonlyMap<PrNumber, readonly Entry[]>;
}

const sharesOf = memo((queue: Queue): Shares => {
  const stacks = new Map<string, Set<PrNumber>>();
  const above = new Map<PrNumber, Entry[]>();
  const listOf = <Key, Value>(map: Map<Key, Value>, key: Key, none: Value) =>
    map.get(key) ?? map.set(key, none).get(key) ?? none;
  for (const entry of valuesOf(queue.entries)) {
    const { submitter } = entry;
    if (submitter !== undefined && isAdmitted(entry))
      listOf(stacks, submitter.id, new Set()).add(lowestOf(queue, entry));
    for (const { number } of needsOf(entry)) listOf(above, number, []).push(entry);
  }
  return { stacks, above };
});

function lowestOf(queue: Queue, entry: Entry): PrNumber {
  const [below] = entriesBelow(queue, entry);
  return below === undefined ? entry.prNumber : lowestOf(queue, below);
}

export function countOf(queue: Queue, { submitter }: Entry): number {
  return (submitter && sharesOf(queue).stacks.get(submitter.id)?.size) ?? 0;
}

/** Its submitter has as many entries in the line as the queue takes, and no entry on it lends it a turn. */
// SPEC E97
export function isOverLimit(queue: Queue, entry: Entry): boolean {
  if (queue.settings.maxEntriesPerActor === 0 || hasTurn(queue, entry)) return false;
  return !hasTurnFromAbove(queue, entry);
}

function hasTurn(queue: Queue, entry: Entry): boolean {
  const stacks = entry.submitter && sharesOf(queue).stacks.get(entry.submitter.id);
  if (stacks === undefined || stacks.size < queue.settings.maxEntriesPerActor) return true;
  return stacks.has(lowestOf(queue, entry));
}

/** Only an entry that lacks nothing else has a turn to lend. */
function hasTurnFromAbove(queue: Queue, { prNumber }: Entry): boolean {
  const above = sharesOf(queue).above.get(prNumber) ?? [];
  return above.some(
    (other) => isReady(readinessOf(queue, other)) && (hasTurn(queue, other) || hasTurnFromAbove(queue, other)),
  );
}

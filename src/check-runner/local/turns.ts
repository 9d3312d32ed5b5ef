import { Semaphore } from '../../lib/semaphore.ts';

export interface Wish {
  readonly share: string;
  /** Lower ranks go first within a share. */
  readonly rank: number;
}

/**
 * Hands out a limited number of turns. The share with the fewest turns goes first; on a tie, the share whose last turn
 * was longest ago. Within a share the lowest rank goes first, then the longest wait.
 */
// SPEC R6
export function createTurns(limit: number): Semaphore<Wish> {
  const lastTurns = new Map<string, number>();
  let given = 0;
  return new Semaphore(limit, (waiting, holding) => {
    const shares = new Set([...waiting, ...holding].map(({ share }) => share));
    for (const share of lastTurns.keys()) if (!shares.has(share)) lastTurns.delete(share);
    const held = Map.groupBy(holding, ({ share }) => share);
    const heldBy = ({ share }: Wish) => held.get(share)?.length ?? 0;
    const lastTurnOf = ({ share }: Wish) => lastTurns.get(share) ?? 0;
    const isBefore = (one: Wish, other: Wish) => {
      if (one.share === other.share) return one.rank < other.rank;
      const more = heldBy(one) - heldBy(other);
      return more === 0 ? lastTurnOf(one) < lastTurnOf(other) : more < 0;
    };
    const chosen = waiting.reduce((best, wish) => (isBefore(wish, best) ? wish : best));
    given += 1;
    lastTurns.set(chosen.share, given);
    return waiting.indexOf(chosen);
  });
}

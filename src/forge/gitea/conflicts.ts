import { BoundedCache } from '../../lib/bounded-cache.ts';
import type { Instant, Timing } from '../../lib/clock.ts';
import type { ForgeRepository } from '../forge.ts';
import type { PullData } from './api/data.ts';

export type ConflictJudgement = 'none' | 'unknown' | 'conflict';

export interface ConflictMemory {
  judge(repository: ForgeRepository, pull: PullData): ConflictJudgement;
}

/** Gitea finds conflicts within seconds, unless it has much to do. */
const COMPUTED_MS = 20_000;
const MAX_KNOWN = 10_000;

interface Seen {
  /** The head that was mergeable last, into this branch. */
  readonly mergeable: string | undefined;
  /** The two commits that are not mergeable, and since when. */
  readonly not: { readonly of: string; readonly since: Instant } | undefined;
}

/** A head that was mergeable counts as such meanwhile: the build of its candidate finds a conflict. */
// SPEC G163
export function createConflictMemory(clock: Timing): ConflictMemory {
  const seen = new BoundedCache<string, Seen>(MAX_KNOWN);
  return {
    judge({ id }, { number, mergeable, head, base }) {
      const key = `${id} ${number}`;
      const merged = `${head.sha} ${base.ref}`;
      if (mergeable !== false) {
        seen.set(key, { mergeable: merged, not: undefined });
        return 'none';
      }
      const known = seen.find(key);
      const of = `${head.sha} ${base.sha}`;
      const not = known?.not?.of === of ? known.not : { of, since: clock.now() };
      seen.set(key, { mergeable: known?.mergeable, not });
      if (clock.now() - not.since >= COMPUTED_MS) return 'conflict';
      return known?.mergeable === merged ? 'none' : 'unknown';
    },
  };
}

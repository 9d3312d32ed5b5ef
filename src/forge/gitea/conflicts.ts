import { BoundedCache } from '../../git/bounded-cache.ts';
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
  /** The two commits that Gitea merges. */
  readonly of: string;
  readonly since: Instant;
}

/** Gitea says "not mergeable" while it computes, too. It is a conflict once it stays so for the same commits. */
// SPEC G163
export function createConflictMemory(clock: Timing): ConflictMemory {
  const seen = new BoundedCache<string, Seen>(MAX_KNOWN);
  return {
    judge({ id }, { number, mergeable, head, base }) {
      const key = `${id} ${number}`;
      if (mergeable !== false) {
        seen.delete(key);
        return 'none';
      }
      const of = `${head.sha} ${base.sha}`;
      const known = seen.find(key);
      if (known?.of === of) return clock.now() - known.since >= COMPUTED_MS ? 'conflict' : 'unknown';
      seen.set(key, { of, since: clock.now() });
      return 'unknown';
    },
  };
}

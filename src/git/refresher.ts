import { setImmediate as nextTurn } from 'node:timers/promises';
import { BoundedCache } from '../lib/bounded-cache.ts';
import type { Clock } from '../lib/clock.ts';

interface Round {
  readonly refs: Set<string>;
  readonly done: Promise<void>;
}

/** A ref that was dropped from the cache costs one more fetch. */
const REMEMBERED_REFS = 10_000;

/**
 * Fetches refs for all callers, never two at a time. A caller that arrives during a fetch cannot know what that fetch
 * still sees. So it waits for the next one, together with all callers before its start.
 */
export class Refresher {
  readonly #fetch: (refs: readonly string[]) => Promise<void>;
  readonly #clock: Pick<Clock, 'now'>;
  #running: Promise<void> | undefined;
  /** Requested but not started. */
  #next: Round | undefined;
  readonly #freshAt = new BoundedCache<string, number>(REMEMBERED_REFS);

  constructor(fetch: (refs: readonly string[]) => Promise<void>, clock: Pick<Clock, 'now'>) {
    this.#fetch = fetch;
    this.#clock = clock;
  }

  /** Resolves after a fetch of these refs that started after this call, or at most `maxAgeMs` before it. */
  ensureFresh(refs: readonly string[], maxAgeMs = 0): Promise<void> {
    const old = refs.filter((ref) => !this.isFresh(ref, maxAgeMs));
    if (old.length === 0) return Promise.resolve();
    this.#next ??= this.#startNext(new Set());
    for (const ref of old) this.#next.refs.add(ref);
    return this.#next.done;
  }

  isFresh(ref: string, maxAgeMs: number): boolean {
    const age = this.#clock.now() - (this.#freshAt.find(ref) ?? -Infinity);
    return age >= 0 && age < maxAgeMs;
  }

  #startNext(refs: Set<string>): Round {
    return { refs, done: this.#run(refs) };
  }

  async #run(refs: ReadonlySet<string>): Promise<void> {
    // All callers of one event loop turn share the fetch.
    await (this.#running ?? nextTurn()).catch(() => undefined);
    this.#next = undefined;
    const startedAt = this.#clock.now();
    this.#running = this.#fetch([...refs]);
    try {
      await this.#running;
      // The data is as old as the start of the fetch, not its end.
      for (const ref of refs) this.#freshAt.set(ref, startedAt);
    } finally {
      this.#running = undefined;
    }
  }
}

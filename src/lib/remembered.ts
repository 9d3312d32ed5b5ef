import { BoundedCache } from './bounded-cache.ts';

export interface RememberedOptions {
  readonly capacity: number;
  /** Older answers are asked for again. Default: an answer holds until it is forgotten. */
  readonly maxAgeMs?: number;
  readonly now?: () => number;
}

/** Answers by key. Concurrent callers share one question, and a failure is not kept. */
// SPEC G100
export class Remembered<Value> {
  readonly #options: RememberedOptions;
  #known: BoundedCache<string, { readonly at: number; readonly answer: Promise<Value> }>;

  constructor(options: RememberedOptions) {
    this.#options = options;
    this.#known = new BoundedCache(options.capacity);
  }

  get(key: string, ask: () => Promise<Value>): Promise<Value> {
    const { maxAgeMs = Number.POSITIVE_INFINITY, now = () => 0 } = this.#options;
    const found = this.#known.find(key);
    if (found !== undefined && now() - found.at < maxAgeMs) return found.answer;
    const known = this.#known;
    const kept = { at: now(), answer: ask() };
    known.set(key, kept);
    kept.answer.catch(() => {
      if (known.find(key) === kept) known.delete(key);
    });
    return kept.answer;
  }

  find(key: string): Promise<Value> | undefined {
    return this.#known.find(key)?.answer;
  }

  /** Without a key, everything. An answer that is under way is not kept either. */
  forget(key?: string): void {
    if (key === undefined) this.#known = new BoundedCache(this.#options.capacity);
    else this.#known.delete(key);
  }
}

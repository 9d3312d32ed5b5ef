import type { Instant } from '../../lib/clock.ts';

/** Rung when a forge told of something: whoever looks need not wait for the time to come. Also when each was last heard of. */
export class WakeSignal {
  readonly #listeners = new Set<() => void>();
  readonly #lastHeardAt = new Map<string, Instant>();

  wake(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Answers how to stop listening. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A delivery of this host that was signed. */
  recordWebhook(host: string, at: Instant): void {
    this.#lastHeardAt.set(host, at);
  }

  lastWebhookAt(host: string): Instant | undefined {
    return this.#lastHeardAt.get(host);
  }
}

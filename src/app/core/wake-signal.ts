import type { Instant } from '../../lib/clock.ts';

/** Wakes the hint worker when a webhook arrived, and keeps the time of each forge's last webhook. */
export class WakeSignal {
  readonly #listeners = new Set<() => void>();
  readonly #lastWebhookAt = new Map<string, Instant>();

  wake(): void {
    for (const listener of this.#listeners) listener();
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Only webhooks with a valid signature are recorded. */
  recordWebhook(host: string, at: Instant): void {
    this.#lastWebhookAt.set(host, at);
  }

  lastWebhookAt(host: string): Instant | undefined {
    return this.#lastWebhookAt.get(host);
  }
}

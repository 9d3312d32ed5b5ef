import type { ServerMetadata } from 'openid-client';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';

const SECOND_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** Addresses of a provider change rarely. */
const FRESH_MS = 3_600_000;

/** The addresses of a provider, as it publishes them: read when the first person signs in, and kept. */
export class Discovery {
  readonly #read: () => Promise<ServerMetadata>;
  readonly #clock: Clock;
  readonly #log: Log;
  #known: { readonly metadata: ServerMetadata; readonly at: number } | undefined;
  #reading: Promise<ServerMetadata | undefined> | undefined;
  #failures = 0;
  #nextAt = 0;

  constructor(read: () => Promise<ServerMetadata>, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#read = read;
    this.#clock = clock;
    this.#log = log;
  }

  /** Undefined while the provider does not answer. Old addresses are better than none. */
  // SPEC A57
  async find(): Promise<ServerMetadata | undefined> {
    const now = this.#clock.now();
    const isFresh = this.#known !== undefined && Math.abs(now - this.#known.at) < FRESH_MS;
    if (!isFresh && now >= this.#nextAt) {
      this.#reading ??= this.#readAgain().finally(() => {
        this.#reading = undefined;
      });
      await this.#reading;
    }
    return this.#known?.metadata;
  }

  async #readAgain(): Promise<undefined> {
    try {
      this.#known = { metadata: await this.#read(), at: this.#clock.now() };
      this.#failures = 0;
      this.#nextAt = 0;
    } catch (error) {
      const wait = Math.min(LONGEST_WAIT_MS, SECOND_MS * 2 ** this.#failures);
      this.#failures += 1;
      this.#nextAt = this.#clock.now() + wait;
      this.#log.warn({ err: error, waitMs: wait }, 'the sign-in provider does not answer');
    }
  }
}

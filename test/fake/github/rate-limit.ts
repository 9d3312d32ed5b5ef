import type { Clock } from '../../../src/lib/clock.ts';
import type { Answer } from '../hosted/answer.ts';
import type { Ask } from './exchange.ts';

/** GitHub's hourly limit for an installation. */
const DEFAULT_LIMIT = 5_000;
const DEFAULT_WINDOW_MS = 3_600_000;
const DOCUMENTATION = 'https://docs.github.com/rest/overview/rate-limits-for-the-rest-api';

export type Resource = 'core' | 'graphql';

export interface RateLimitOptions {
  readonly core?: number;
  readonly graphql?: number;
  readonly windowMs?: number;
}

export interface Bucket {
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  /** In whole seconds, like the header. */
  readonly reset: number;
}

/** Remaining requests of each payer, per resource and window. */
export class RateLimits {
  /** Number of refusals. */
  refused = 0;
  #options: RateLimitOptions;
  readonly #clock: Clock;
  readonly #spent = new Map<string, { used: number; readonly until: number }>();

  constructor(clock: Clock, options: RateLimitOptions = {}) {
    this.#clock = clock;
    this.#options = options;
  }

  /** Applies from now on. Used requests stay used. */
  configure(options: RateLimitOptions): void {
    this.#options = { ...this.#options, ...options };
  }

  find(payer: string, resource: Resource): Bucket {
    const { used, until } = this.#windowOf(payer, resource);
    const limit = this.#options[resource] ?? DEFAULT_LIMIT;
    return { limit, used, remaining: Math.max(0, limit - used), reset: Math.ceil(until / 1000) };
  }

  /** Refuses, or charges one request. */
  begin(ask: Ask): Answer | undefined {
    const resource = resourceOf(ask);
    if (this.find(ask.payer, resource).remaining === 0) {
      this.refused += 1;
      return this.#primary(ask, resource);
    }
    this.#windowOf(ask.payer, resource).used += 1;
    return undefined;
  }

  /** Charges a request that cost more than one point. */
  spendMore(ask: Ask, more: number): void {
    this.#windowOf(ask.payer, resourceOf(ask)).used += more;
  }

  headersFor(ask: Ask): Readonly<Record<string, string>> {
    const resource = resourceOf(ask);
    const bucket = this.find(ask.payer, resource);
    return {
      'x-ratelimit-limit': String(bucket.limit),
      'x-ratelimit-remaining': String(bucket.remaining),
      'x-ratelimit-reset': String(bucket.reset),
      'x-ratelimit-used': String(bucket.used),
      'x-ratelimit-resource': resource,
    };
  }

  #primary(ask: Ask, resource: Resource): Answer {
    const message = `API rate limit exceeded for ${ask.payer.replace(' ', ' ID ')}.`;
    if (resource === 'graphql') return { status: 200, body: { errors: [{ type: 'RATE_LIMITED', message }] } };
    return { status: 403, body: { message, documentation_url: DOCUMENTATION } };
  }

  #windowOf(payer: string, resource: Resource): { used: number; readonly until: number } {
    const key = `${payer} ${resource}`;
    const now = this.#clock.now();
    const found = this.#spent.get(key);
    if (found !== undefined && found.until > now) return found;
    const fresh = { used: 0, until: now + (this.#options.windowMs ?? DEFAULT_WINDOW_MS) };
    this.#spent.set(key, fresh);
    return fresh;
  }
}

export function secondaryLimit(retryAfterSeconds = 60): Answer {
  return {
    status: 403,
    headers: { 'retry-after': String(retryAfterSeconds) },
    body: {
      message: 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
      documentation_url: DOCUMENTATION,
    },
  };
}

function resourceOf(ask: Ask): Resource {
  return ask.area === 'graphql' ? 'graphql' : 'core';
}

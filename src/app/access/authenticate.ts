import { hash, randomBytes } from 'node:crypto';
import type { Clock, Instant } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { present } from '../../lib/present.ts';
import type { Organization, Token } from '../../storage/accounts.ts';
import type { Store } from '../../storage/store.ts';
import type { Auth } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';

/** On a shared store, all servers refuse a revoked token within this time. */
const SHARED_CACHE_MS = 5_000;
const CACHE_LIMIT = 10_000;
/** Uses are written in bulk: a write per request would cost more than the request. */
const USE_FLUSH_MS = 10_000;

interface CachedToken {
  readonly caller: Caller;
  readonly token: Token;
  /** By a monotonic clock: a clock that is set back must not keep a revoked token valid. */
  readonly readAtMs: number;
}

/** Finds the caller of a secret, and records when each token was last used. */
export class Authenticator implements Auth {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Log;
  /** By secret, of tokens that exist: a hash for each request would take longer than the rest of its admission. */
  readonly #known = new Map<string, CachedToken>();
  #uses = new Map<string, Instant>();
  #generation = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(deps: { readonly store: Store; readonly clock: Clock; readonly log: Log }) {
    this.#store = deps.store;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#timer = setInterval(() => void this.#flush(), USE_FLUSH_MS).unref();
  }

  find(secret: string): Caller | undefined | Promise<Caller | undefined> {
    const known = this.#known.get(secret);
    const now = this.#clock.now();
    if (known === undefined || (this.#store.isShared && performance.now() - known.readAtMs > SHARED_CACHE_MS)) {
      return this.#read(secret, now);
    }
    return this.#accept(known, now);
  }

  // SPEC A17
  forget(): void {
    this.#known.clear();
    this.#generation += 1;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flush();
  }

  async #read(secret: string, now: Instant): Promise<Caller | undefined> {
    const generation = this.#generation;
    const readAtMs = performance.now();
    const found = await this.#store.accounts.findToken(hashTokenSecret(secret));
    if (found === undefined) return undefined;
    const known: CachedToken = { caller: toCaller(found.token, found.organization), token: found.token, readAtMs };
    if (this.#known.size >= CACHE_LIMIT) this.#known.clear();
    // A token that was read before `forget` may be outdated, and is not cached.
    if (generation === this.#generation) this.#known.set(secret, known);
    return this.#accept(known, now);
  }

  #accept({ caller, token }: CachedToken, now: Instant): Caller | undefined {
    if (!isGood(token, now)) return undefined;
    this.#uses.set(token.id, now);
    return caller;
  }

  // SPEC A16
  async #flush(): Promise<void> {
    const uses = this.#uses;
    if (uses.size === 0) return;
    this.#uses = new Map();
    try {
      await this.#store.accounts.recordTokenUse(uses);
    } catch (error) {
      // Only the display of "last used" suffers; the next use is recorded again.
      this.#log.warn({ err: error }, 'could not record token uses');
    }
  }
}

/** Neither revoked nor at its end. */
// SPEC A20
export function isGood(token: Token, now: Instant): boolean {
  return token.revokedAt === null && (endOf(token) ?? Number.POSITIVE_INFINITY) > now;
}

/** A provider tells of groups, and of people who left, only when they sign in. */
const SIGNED_IN_WITHIN_MS = 30 * 24 * 3_600_000;

/** When a token stops working unless it is revoked before. Null: never. */
// SPEC A71
export function endOf({ expiresAt, signedInAt }: Token): Instant | null {
  if (signedInAt === null) return expiresAt;
  return Math.min(expiresAt ?? Number.POSITIVE_INFINITY, signedInAt + SIGNED_IN_WITHIN_MS);
}

// SPEC A21
export function toCaller(token: Token, organization: Organization): Caller {
  const { repositoryIds, expiresAt, person, signedInAt, isAgent } = token;
  return {
    organization,
    tokenId: token.id,
    name: token.name,
    // `instance` is about the whole server. Limited tokens with it are not created any more, but may be stored.
    scopes: new Set(repositoryIds === null ? token.scopes : token.scopes.filter((scope) => scope !== 'instance')),
    repositoryIds: repositoryIds === null ? null : new Set(repositoryIds),
    ...present({ expiresAt }),
    ...(person === null || signedInAt === null ? {} : { maker: person, signedInAt }),
    ...(isAgent ? { isAgent } : {}),
  };
}

export function makeTokenSecret(): string {
  return `slc_${randomBytes(32).toString('base64url')}`;
}

/** Secrets are long and random, so that one fast hash is enough. A lookup takes the same time for any guess. */
// SPEC A5
export function hashTokenSecret(secret: string): string {
  return hash('sha256', secret);
}

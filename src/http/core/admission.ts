import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import type { App } from '../../app/core/app.ts';
import { type Caller, hasScope } from '../../app/core/caller.ts';
import type { Operation } from '../../contract/operation.ts';
import type { Clock } from '../../lib/clock.ts';
import { HttpProblem } from './problem.ts';
import type { ServerDeps } from './server-deps.ts';

export type Hook = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void;

/** Admits a request before its body is read: the token must be known, within its rate limit, and have the scope. */
// SPEC A1
export function createAdmission({ app }: ServerDeps, limit: RateLimit | undefined): (operation: Operation) => Hook {
  return (operation) => (request, reply, done) => {
    const secret = findSecret(request);
    if (secret === undefined) return done(mayBeFork(app, operation, request) ? undefined : tokenRequired());
    const admit = (caller: Caller | undefined): void => {
      request.caller = caller;
      done(refusalOf(caller, { operation, limit, reply }));
    };
    request.readmit = finderOf(app, secret);
    const found = app.auth.find(secret);
    const slug = findOrganization(request);
    if (slug !== undefined) actFor(app, slug, found).then(admit, done);
    else if (found instanceof Promise) found.then(admit, done);
    else admit(found);
  };
}

/** Admits a scraper to /metrics also while the store does not answer: the token of the variable is compared here. */
// SPEC M40
export function createMetricsAdmission(
  { metricsToken }: ServerDeps,
  admission: (operation: Operation) => Hook,
): (operation: Operation) => Hook {
  const own = metricsToken === undefined ? undefined : hash('sha256', metricsToken, 'buffer');
  return (operation) => {
    const admitOther = admission(operation);
    return (request, reply, done) => {
      const secret = findSecret(request);
      const isOwn = own && secret && timingSafeEqual(hash('sha256', secret, 'buffer'), own);
      return isOwn ? done() : admitOther(request, reply, done);
    };
  };
}

/** Apart from the hook: with a closure that holds the hook's variables, every request survives the minor collections. */
function finderOf({ auth }: App, secret: string): () => Promise<Caller | undefined> {
  return async () => auth.find(secret);
}

// SPEC A13
export function refusalOf(
  caller: Caller | undefined,
  of: { readonly operation: Operation; readonly limit: RateLimit | undefined; readonly reply: FastifyReply },
): HttpProblem | undefined {
  const { operation, limit, reply } = of;
  if (caller === undefined) {
    return new HttpProblem(
      'INVALID_TOKEN',
      'This token is unknown, revoked or expired. Ask an administrator for another one.',
    );
  }
  const wait = limit === undefined ? 0 : spend(limit, caller, reply);
  if (wait > 0) {
    reply.header('retry-after', wait);
    return new HttpProblem('RATE_LIMITED', `This token sends too many requests. Try again in ${wait} s.`);
  }
  // A person's role follows from the repository, which the body names.
  if (caller.person !== undefined || hasScope(caller, operation.scope)) return undefined;
  return new HttpProblem('INSUFFICIENT_SCOPE', `${operation.name} needs a token with the scope "${operation.scope}".`);
}

export function createRateLimit({ app, rateLimit }: ServerDeps): RateLimit | undefined {
  return rateLimit > 0 ? new RateLimit(rateLimit, app.clock) : undefined;
}

/** The headers of draft-ietf-httpapi-ratelimit-headers: the limit is for a window of one second. */
// SPEC A24
function spend(limit: RateLimit, { tokenId }: Caller, reply: FastifyReply): number {
  const wait = limit.spend(tokenId);
  const { limit: most, remaining, resetS } = limit.describe(tokenId);
  reply.header('ratelimit-limit', most).header('ratelimit-remaining', remaining).header('ratelimit-reset', resetS);
  reply.header('ratelimit-policy', `${most};w=${limit.windowS}`);
  return wait;
}

// SPEC A12
export async function actFor(
  app: App,
  slug: string,
  found: Caller | undefined | Promise<Caller | undefined>,
): Promise<Caller | undefined> {
  const caller = await found;
  if (caller === undefined || caller.organization.slug === slug) return caller;
  const organization = hasScope(caller, 'instance') ? await app.store.accounts.findOrganization(slug) : undefined;
  if (organization !== undefined) return { ...caller, organization };
  throw new HttpProblem(
    'ORGANIZATION_NOT_FOUND',
    `This token does not belong to an organization "${slug.slice(0, 63)}". Check x-organization.`,
  );
}

// SPEC A22
export function findOrganization({ headers }: FastifyRequest): string | undefined {
  const given = headers['x-organization'];
  const slug = typeof given === 'string' ? given.trim() : '';
  return slug === '' ? undefined : slug;
}

/** Metrics scrapers often know only `Authorization`. A blank header counts as absent. */
// SPEC H23
function findSecret({ headers }: FastifyRequest): string | undefined {
  const given = headers['x-api-token'];
  const secret = typeof given === 'string' ? given.trim() : '';
  if (secret !== '') return secret;
  return headers.authorization === undefined ? undefined : /^Bearer +(\S+)$/i.exec(headers.authorization)?.[1];
}

/** A fork is proven after its body was read, which names the pull request. Only a hosted forge can prove it. */
// SPEC G88
function mayBeFork({ forges }: App, { isForForks }: Operation, request: FastifyRequest): boolean {
  if (isForForks !== true || findForkRunId(request) === undefined) return false;
  return [...forges.values()].some(({ hosting }) => hosting !== undefined);
}

/** A number, as GitHub gives to workflow runs. Anything else counts as absent. */
export function findForkRunId({ headers }: FastifyRequest): string | undefined {
  const given = headers['x-forked-workflow-run-id'];
  return typeof given === 'string' ? /^\s*([1-9]\d{0,18})\s*$/.exec(given)?.[1] : undefined;
}

// SPEC A13
function tokenRequired(): HttpProblem {
  return new HttpProblem('AUTHENTICATION_REQUIRED', 'Send an API token in the header x-api-token.');
}

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** Strangers come from any number of addresses. */
const MOST_BUCKETS = 50_000;

/** Each key may make `perSecond` requests a second, with a burst of one second's worth. */
// SPEC A9
export class RateLimit {
  readonly #perSecond: number;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perSecond: number, clock: Clock) {
    this.#perSecond = perSecond;
    this.#clock = clock;
  }

  /** 0: the request may proceed. Otherwise the seconds until a retry. */
  spend(key: string): number {
    const now = this.#clock.now();
    const bucket = this.#buckets.get(key) ?? { tokens: Math.max(1, this.#perSecond), filledAt: now };
    // A clock that was set back changes nothing.
    const earned = (Math.max(0, now - bucket.filledAt) / 1000) * this.#perSecond;
    bucket.tokens = Math.min(Math.max(1, this.#perSecond), bucket.tokens + earned);
    bucket.filledAt = now;
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > MOST_BUCKETS) this.#forgetFull(now);
    if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / this.#perSecond);
    bucket.tokens -= 1;
    return 0;
  }

  /** A bucket that is full again is as good as none. */
  #forgetFull(now: number): void {
    for (const [key, { filledAt }] of this.#buckets) {
      if (now - filledAt >= this.windowS * 1_000) this.#buckets.delete(key);
    }
    // So many keys within seconds are a flood, and its memory matters more than its counts.
    if (this.#buckets.size > MOST_BUCKETS) this.#buckets.clear();
  }

  /** How long a burst takes to fill up again: longer than a second where less than one request a second is allowed. */
  get windowS(): number {
    return Math.ceil(Math.max(1, this.#perSecond) / this.#perSecond);
  }

  /** The state after the last request: `resetS` is how long it takes until the whole burst is there again. */
  describe(key: string): { readonly limit: number; readonly remaining: number; readonly resetS: number } {
    const most = Math.max(1, this.#perSecond);
    const { tokens } = this.#buckets.get(key) ?? { tokens: most };
    return {
      limit: Math.floor(most),
      remaining: Math.floor(tokens),
      resetS: Math.ceil((most - tokens) / this.#perSecond),
    };
  }
}

import type { Instant, Timing } from '../../../lib/clock.ts';
import { Fault } from '../../../lib/fault.ts';
import { KNOWN_NOT_APPLIED } from '../../known-not-applied.ts';

/** Landings go first. Comments and checks wait first. */
export type Urgency = 'land' | 'read' | 'page';

export interface Need {
  readonly urgency: Urgency;
  readonly resource: Resource;
  /** The request changes something on GitHub. */
  readonly isAct: boolean;
}

export type Resource = 'core' | 'graphql';

export interface Turn {
  /** To be called once; undefined when no answer arrived. Tells whether a rate limit refused the request. */
  end(answer: AnswerFacts | undefined): boolean;
}

export interface AnswerFacts {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  /** GitHub's message, when it refused. */
  readonly message: string;
  /** GraphQL answers 200 even when the rate limit refused the query. */
  readonly isLimited?: boolean;
}

export interface Limit {
  readonly resource: Resource;
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: Instant;
}

export interface BudgetOptions {
  readonly clock: Timing;
  /** Minimum time between writes of comments and checks. GitHub asks for one second. */
  readonly paceMs?: number;
  readonly maxWaitMs?: number;
}

const PACE_MS = 1_000;
const MAX_WAIT_MS = 30_000;
/** GitHub allows 100 concurrent requests per installation, for all clients together. */
const MAX_AT_ONCE = 20;
/** GitHub's documentation says one minute when there is no `retry-after`. */
const SECONDARY_WAIT_MS = 60_000;
/** GitHub allows some hundred writes an hour, and then refuses all requests: comments back off up to this. */
const MAX_BACKOFF_MS = 15 * 60_000;
/** Allows for clock skew between GitHub and the server. */
const RESET_LEEWAY_MS = 1_000;
/** The limit should have been refilled by the server's clock, and was not. */
const AHEAD_WAIT_MS = 10_000;
/** The share of each limit that is reserved for more urgent requests. */
const RESERVED: Readonly<Record<Urgency, number>> = { land: 0, read: 0.05, page: 0.15 };
const ORDER: readonly Urgency[] = ['land', 'read', 'page'];

interface Waiter extends Need {
  readonly deadline: Instant;
  readonly start: () => void;
  readonly refuse: (fault: Fault) => void;
}

/**
 * Rate limiting for one installation. Octokit's throttling plugin is not used: it allows one write a second and counts
 * merges and GraphQL reads as writes, waits three seconds between merges, has no priorities, shares its limits among
 * all connections of a process, and uses the machine's clock. Octokit's retry plugin repeats writes whose answer was
 * lost.
 */
// SPEC G8, G104
export class Budget {
  readonly #clock: Timing;
  readonly #paceMs: number;
  readonly #maxWaitMs: number;
  readonly #limits = new Map<Resource, Limit>();
  readonly #running = { core: 0, graphql: 0 };
  #waiters: readonly Waiter[] = [];
  #blockedUntil: Instant = 0;
  #nextActAt: Instant = 0;
  /** Backoff of comments and checks after consecutive secondary limits. */
  #backoff = { times: 0, until: 0 as Instant };
  #isClosed = false;
  #cancelTimer = (): void => undefined;

  constructor({ clock, paceMs = PACE_MS, maxWaitMs = MAX_WAIT_MS }: BudgetOptions) {
    this.#clock = clock;
    this.#paceMs = paceMs;
    this.#maxWaitMs = maxWaitMs;
  }

  /** Waits for a slot. Throws when the wait would exceed `maxWaitMs`. */
  async take(need: Need): Promise<Turn> {
    if (this.#isClosed) throw stopping();
    const ahead = this.#waiters.filter(isPaced).length;
    const at = this.#freeAt(need, ahead);
    if (at > this.#clock.now() + this.#maxWaitMs)
      throw this.#freeAt(need, 0) > this.#clock.now() + this.#maxWaitMs ? exhausted(at) : crowded(at);
    await new Promise<void>((start, refuse) => {
      this.#enqueue({ ...need, deadline: this.#clock.now() + this.#maxWaitMs, start, refuse });
      this.#pump();
    });
    return this.#turnOf(need);
  }

  limits(): readonly Limit[] {
    return [...this.#limits.values()];
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelTimer();
    for (const { refuse } of this.#waiters) refuse(stopping());
    this.#waiters = [];
  }

  /** The earliest start of a request, with `paced` writes ahead of it. */
  #freeAt(need: Need, paced: number): Instant {
    const now = this.#clock.now();
    const limit = this.#limits.get(need.resource);
    const reserved = Math.floor((limit?.limit ?? 0) * RESERVED[need.urgency]);
    const isShort = limit !== undefined && limit.remaining - this.#running[need.resource] <= reserved;
    const refilledAt = isShort && limit.resetAt > now ? limit.resetAt : now;
    const pacedAt = isPaced(need) ? Math.max(this.#nextActAt, this.#backoff.until) + paced * this.#paceMs : now;
    return Math.max(now, this.#blockedUntil, refilledAt, pacedAt);
  }

  #begin(waiter: Waiter): void {
    this.#running[waiter.resource] += 1;
    if (isPaced(waiter)) this.#nextActAt = this.#clock.now() + this.#paceMs;
    waiter.start();
  }

  #pump(): void {
    this.#cancelTimer();
    const kept: Waiter[] = [];
    let wakeAt = Number.POSITIVE_INFINITY;
    for (const waiter of this.#waiters) {
      const at = this.#freeAt(waiter, 0);
      const mayStart = at <= this.#clock.now();
      if (mayStart && this.#running.core + this.#running.graphql < MAX_AT_ONCE) {
        this.#begin(waiter);
      } else if (at > waiter.deadline) {
        waiter.refuse(exhausted(at));
      } else {
        kept.push(waiter);
        if (!mayStart) wakeAt = Math.min(wakeAt, at);
      }
    }
    this.#waiters = kept;
    if (wakeAt < Number.POSITIVE_INFINITY)
      this.#cancelTimer = this.#clock.after(wakeAt - this.#clock.now(), () => this.#pump());
  }

  #enqueue(waiter: Waiter): void {
    const behind = this.#waiters.findIndex(({ urgency }) => ORDER.indexOf(urgency) > ORDER.indexOf(waiter.urgency));
    this.#waiters = behind === -1 ? [...this.#waiters, waiter] : this.#waiters.toSpliced(behind, 0, waiter);
  }

  /** Requests that were in flight together count as one refusal. */
  #startBackoff(waitMs: number): void {
    const now = this.#clock.now();
    if (now < this.#backoff.until) return;
    const times = this.#backoff.times + 1;
    this.#backoff = { times, until: now + Math.min(MAX_BACKOFF_MS, waitMs * 2 ** (times - 1)) };
  }

  #learn(need: Need, { status, headers, message, isLimited = false }: AnswerFacts): boolean {
    const known = limitOf(need.resource, headers);
    if (known !== undefined) this.#limits.set(known.resource, newerOf(this.#limits.get(known.resource), known));
    if (!isLimited && !isRefusedForLimit(status, headers, message)) {
      if (isPaced(need) && this.#clock.now() >= this.#backoff.until) this.#backoff = { times: 0, until: 0 };
      return false;
    }
    const waitMs = secondsOf(headers['retry-after']);
    // An exhausted primary limit names its reset time. A secondary limit sends `retry-after`, or nothing.
    const isUsedUp = waitMs === undefined && known?.remaining === 0;
    if (isUsedUp && known.resetAt > this.#clock.now()) return true;
    this.#blockedUntil = Math.max(
      this.#blockedUntil,
      this.#clock.now() + (waitMs ?? (isUsedUp ? AHEAD_WAIT_MS : SECONDARY_WAIT_MS)),
    );
    if (isPaced(need) && !isUsedUp) this.#startBackoff(waitMs ?? SECONDARY_WAIT_MS);
    return true;
  }

  #turnOf(need: Need): Turn {
    return {
      end: (answer) => {
        this.#running[need.resource] -= 1;
        const isRefused = answer !== undefined && this.#learn(need, answer);
        this.#pump();
        return isRefused;
      },
    };
  }
}

// SPEC G9
function isPaced({ isAct, urgency }: Need): boolean {
  return isAct && urgency === 'page';
}

/** Answers arrive out of order. Within one period, the lower remaining count is the newer one. */
function newerOf(known: Limit | undefined, told: Limit): Limit {
  return known?.resetAt === told.resetAt && known.remaining < told.remaining ? known : told;
}

function limitOf(resource: Resource, headers: AnswerFacts['headers']): Limit | undefined {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((key) => Number(headers[`x-ratelimit-${key}`]));
  if (![limit, remaining, reset].every((value) => value !== undefined && Number.isSafeInteger(value) && value >= 0)) {
    return undefined;
  }
  const told = headers['x-ratelimit-resource'];
  // Search and other resources have limits of their own, and Sluice does not use them.
  if (told !== undefined && told !== 'core' && told !== 'graphql') return undefined;
  return {
    resource: told ?? resource,
    limit: limit as number,
    remaining: remaining as number,
    resetAt: (reset as number) * 1_000 + RESET_LEEWAY_MS,
  };
}

function isRefusedForLimit(status: number, headers: AnswerFacts['headers'], message: string): boolean {
  if (status === 429) return true;
  if (status !== 403) return false;
  return (
    headers['x-ratelimit-remaining'] === '0' || headers['retry-after'] !== undefined || /rate limit/i.test(message)
  );
}

function secondsOf(value: string | number | undefined): number | undefined {
  const seconds = Number(value ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : undefined;
}

/** The limit is not exhausted. The writes in the queue, one a second, take too long. */
function crowded(until: Instant): Fault {
  const detail = `More waits to be said on GitHub than can be before ${timeOf(until)} UTC.`;
  return new Fault('FORGE_UNAVAILABLE', detail, { cause: KNOWN_NOT_APPLIED });
}

function stopping(): Fault {
  return new Fault('SHUTTING_DOWN', 'The server stops.', { cause: KNOWN_NOT_APPLIED });
}

function timeOf(instant: Instant): string {
  return new Date(instant).toISOString().slice(11, 16);
}

export function exhausted(until: Instant): Fault {
  const detail = `GitHub's rate limit for this installation is used up until ${timeOf(until)} UTC.`;
  return new Fault('FORGE_UNAVAILABLE', detail, { cause: { ...KNOWN_NOT_APPLIED, limitedUntil: until } });
}

/** The time until which the rate limit blocked this request. */
export function limitedUntil({ cause }: Fault): Instant | undefined {
  if (typeof cause !== 'object' || cause === null || !('limitedUntil' in cause)) return undefined;
  return typeof cause.limitedUntil === 'number' ? cause.limitedUntil : undefined;
}

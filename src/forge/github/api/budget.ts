import type { Instant, Timing } from '../../../lib/clock.ts';
import { Fault } from '../../../lib/fault.ts';
import { KNOWN_NOT_APPLIED } from '../../known-not-applied.ts';

/**
 * How much may be asked of GitHub, for one installation.
 *
 * Octokit's throttling plugin is not used. It has one write a second for merges and GraphQL reads too, three seconds
 * between merges, no order among those who wait, its limits are shared by all connections of a process, and its clock is
 * the machine's. Its retry plugin sends acts again whose answer was lost.
 */
export interface Budget {
  /** Waits for its turn. Throws where the wait would be longer than anybody should hold a question. */
  take(need: Need): Promise<Turn>;
  /** What is known about the limits, for logs. */
  limits(): readonly Limit[];
  close(): void;
}

/** What lands goes first; what people are told waits first. */
export type Urgency = 'land' | 'read' | 'talk';

export interface Need {
  readonly urgency: Urgency;
  readonly resource: Resource;
  /** It makes or changes something that people see. */
  readonly isAct: boolean;
}

export type Resource = 'core' | 'graphql';

export interface Turn {
  /** To be called once, with what came back; undefined where nothing did. Answers whether it was refused for a limit. */
  end(answer: AnswerFacts | undefined): boolean;
}

export interface AnswerFacts {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  /** GitHub's own sentence, where it refused. */
  readonly message: string;
  /** Of GraphQL, which answers 200 to what it refuses. */
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
  /** Between acts that tell people something: GitHub asks for a second. */
  readonly paceMs?: number;
  readonly maxWaitMs?: number;
}

const PACE_MS = 1_000;
const MAX_WAIT_MS = 30_000;
/** GitHub refuses more than 100 at once of all clients of an installation. */
const MAX_AT_ONCE = 20;
/** What GitHub asks to wait for where it does not say how long. */
const SECONDARY_WAIT_MS = 60_000;
/**
 * GitHub lets an installation write some hundred things an hour, and then refuses everybody for a while. Were people told
 * the next thing as soon as that is over, hardly anything could land in between.
 */
const MAX_SILENCE_MS = 15 * 60_000;
/** Its clock and ours are not the same. */
const RESET_LEEWAY_MS = 1_000;
/** Where a limit should be refilled by our clock, and is not. */
const AHEAD_WAIT_MS = 10_000;
/** The share of the limit that is left to those who are more urgent. */
const RESERVED: Readonly<Record<Urgency, number>> = { land: 0, read: 0.05, talk: 0.15 };
const ORDER: readonly Urgency[] = ['land', 'read', 'talk'];

interface Waiter extends Need {
  readonly deadline: Instant;
  readonly start: () => void;
  readonly refuse: (fault: Fault) => void;
}

export function createBudget({ clock, paceMs = PACE_MS, maxWaitMs = MAX_WAIT_MS }: BudgetOptions): Budget {
  const limits = new Map<Resource, Limit>();
  const running = { core: 0, graphql: 0 };
  let waiters: readonly Waiter[] = [];
  let blockedUntil: Instant = 0;
  let nextActAt: Instant = 0;
  /** How often in a row what people should be told met a secondary limit, and until when they are told nothing. */
  let silence = { times: 0, until: 0 as Instant };
  let isClosed = false;
  let cancelTimer = (): void => undefined;

  /** When this one could start, were it alone. */
  function freeAt(need: Need, paced: number): Instant {
    const now = clock.now();
    const limit = limits.get(need.resource);
    const reserved = Math.floor((limit?.limit ?? 0) * RESERVED[need.urgency]);
    const isShort = limit !== undefined && limit.remaining - running[need.resource] <= reserved;
    const refilledAt = isShort && limit.resetAt > now ? limit.resetAt : now;
    const pacedAt = isPaced(need) ? Math.max(nextActAt, silence.until) + paced * paceMs : now;
    return Math.max(now, blockedUntil, refilledAt, pacedAt);
  }

  function begin(waiter: Waiter): void {
    running[waiter.resource] += 1;
    if (isPaced(waiter)) nextActAt = clock.now() + paceMs;
    waiter.start();
  }

  function pump(): void {
    cancelTimer();
    const kept: Waiter[] = [];
    let wakeAt = Number.POSITIVE_INFINITY;
    for (const waiter of waiters) {
      const at = freeAt(waiter, 0);
      const mayStart = at <= clock.now();
      if (mayStart && running.core + running.graphql < MAX_AT_ONCE) {
        begin(waiter);
      } else if (at > waiter.deadline) {
        waiter.refuse(exhausted(at));
      } else {
        kept.push(waiter);
        if (!mayStart) wakeAt = Math.min(wakeAt, at);
      }
    }
    waiters = kept;
    if (wakeAt < Number.POSITIVE_INFINITY) cancelTimer = clock.after(wakeAt - clock.now(), pump);
  }

  function enqueue(waiter: Waiter): void {
    const behind = waiters.findIndex(({ urgency }) => ORDER.indexOf(urgency) > ORDER.indexOf(waiter.urgency));
    waiters = behind === -1 ? [...waiters, waiter] : waiters.toSpliced(behind, 0, waiter);
  }

  /** Those that were under way together count once. */
  function fallSilent(waitMs: number): void {
    const now = clock.now();
    if (now < silence.until) return;
    const times = silence.times + 1;
    silence = { times, until: now + Math.min(MAX_SILENCE_MS, waitMs * 2 ** (times - 1)) };
  }

  function learn(need: Need, { status, headers, message, isLimited = false }: AnswerFacts): boolean {
    const known = limitOf(need.resource, headers);
    if (known !== undefined) limits.set(known.resource, newerOf(limits.get(known.resource), known));
    if (!isLimited && !isRefusedForLimit(status, headers, message)) {
      if (isPaced(need) && clock.now() >= silence.until) silence = { times: 0, until: 0 };
      return false;
    }
    const waitMs = secondsOf(headers['retry-after']);
    // A limit that is used up says when it is refilled; a secondary one says how long to wait, or nothing.
    const isUsedUp = waitMs === undefined && known?.remaining === 0;
    if (isUsedUp && known.resetAt > clock.now()) return true;
    blockedUntil = Math.max(blockedUntil, clock.now() + (waitMs ?? (isUsedUp ? AHEAD_WAIT_MS : SECONDARY_WAIT_MS)));
    if (isPaced(need) && !isUsedUp) fallSilent(waitMs ?? SECONDARY_WAIT_MS);
    return true;
  }

  function turnOf(need: Need): Turn {
    return {
      end(answer) {
        running[need.resource] -= 1;
        const isRefused = answer !== undefined && learn(need, answer);
        pump();
        return isRefused;
      },
    };
  }

  return {
    async take(need) {
      if (isClosed) throw stopping();
      const ahead = waiters.filter(isPaced).length;
      const at = freeAt(need, ahead);
      if (at > clock.now() + maxWaitMs) throw freeAt(need, 0) > clock.now() + maxWaitMs ? exhausted(at) : crowded(at);
      await new Promise<void>((start, refuse) => {
        enqueue({ ...need, deadline: clock.now() + maxWaitMs, start, refuse });
        pump();
      });
      return turnOf(need);
    },
    limits: () => [...limits.values()],
    close() {
      isClosed = true;
      cancelTimer();
      for (const { refuse } of waiters) refuse(stopping());
      waiters = [];
    },
  };
}

/** Merges never wait for comments. */
function isPaced({ isAct, urgency }: Need): boolean {
  return isAct && urgency === 'talk';
}

/** Answers overtake each other: within one hour, less is newer. */
function newerOf(known: Limit | undefined, told: Limit): Limit {
  return known?.resetAt === told.resetAt && known.remaining < told.remaining ? known : told;
}

function limitOf(resource: Resource, headers: AnswerFacts['headers']): Limit | undefined {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((key) => Number(headers[`x-ratelimit-${key}`]));
  if (![limit, remaining, reset].every((value) => value !== undefined && Number.isSafeInteger(value) && value >= 0)) {
    return undefined;
  }
  const told = headers['x-ratelimit-resource'];
  // Searches and the like have limits of their own, and nobody searches here.
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

/** Nothing is used up: there is only much to say, one thing a second. */
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

/** Where a limit is why nothing was asked: until when. */
export function limitedUntil({ cause }: Fault): Instant | undefined {
  if (typeof cause !== 'object' || cause === null || !('limitedUntil' in cause)) return undefined;
  return typeof cause.limitedUntil === 'number' ? cause.limitedUntil : undefined;
}

import type { Instant, Timing } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { Log, LogLevel } from '../../lib/log.ts';

/** A request that has waited this long is refused, if the store has been away for some time of it. */
const REQUEST_MS = 10_000;
const AWAY_MS = 2_000;
/** A request that takes longer raises doubt about the store. */
const DOUBT_MS = 2_000;
/** Calls that the outage caught may fail until then, after the longest time limit of a statement. */
const LATE_MS = 45_000;

const AWAY = 'The database does not answer. Whether this was stored is not known: ask, or send it again in a moment.';

interface Line {
  readonly level: LogLevel;
  readonly facts: object;
  readonly text: string;
}

interface WaitingRequest {
  readonly since: Instant;
  readonly reject: (error: Fault) => void;
}

/** Whether the store answers, by the reads of the store poller. An outage is told once, and requests do not outwait it. */
// SPEC D42
export class StoreHealth {
  /** The log for all other parts: it tells of a store that is away once, and of other failures of the store as usual. */
  readonly log: Log;
  readonly #clock: Timing;
  readonly #outer: Log;
  /** Lines about the store, until a read says whether it is away. */
  readonly #held: Line[] = [];
  readonly #requests = new Set<WaitingRequest>();
  #lostAt: Instant | undefined;
  #backAt = Number.NEGATIVE_INFINITY;
  #cancelDoubt: (() => void) | undefined;
  /** Asks for a read. */
  onDoubt: () => void = () => undefined;

  constructor({ log, clock }: { readonly log: Log; readonly clock: Timing }) {
    this.#outer = log;
    this.#clock = clock;
    const at = (level: LogLevel) => (facts: object, text: string) => this.#write({ level, facts, text });
    this.log = { debug: log.debug, info: log.info, warn: at('warn'), error: at('error') };
  }

  get isAway(): boolean {
    return this.#lostAt !== undefined;
  }

  noteAnswer(): void {
    const lostAt = this.#lostAt;
    const now = this.#clock.now();
    if (lostAt !== undefined) {
      this.#lostAt = undefined;
      this.#backAt = now;
      this.#outer.warn({ seconds: Math.round((now - lostAt) / 1_000) }, 'the database is back');
    }
    const isLate = now - this.#backAt < LATE_MS;
    for (const line of this.#held.splice(0)) this.#outer[isLate ? 'debug' : line.level](line.facts, line.text);
  }

  noteFailure(error: unknown): void {
    const now = this.#clock.now();
    if (this.#lostAt === undefined) {
      this.#lostAt = now;
      this.#outer.warn({ err: error }, 'the database is away');
    }
    for (const { facts, text } of this.#held.splice(0)) this.#outer.debug(facts, text);
    if (now - this.#lostAt < AWAY_MS) return;
    for (const { since, reject } of this.#requests) {
      if (now - since >= REQUEST_MS) reject(new Fault('STORE_UNAVAILABLE', AWAY, { told: AWAY }));
    }
  }

  /** The answer of a request that came `agoMs` ago, or a refusal if the store stays away. */
  async answer<T>(work: Promise<T>, agoMs: number): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    const request = { since: this.#clock.now() - agoMs, reject };
    this.#requests.add(request);
    this.#cancelDoubt ??= this.#clock.after(DOUBT_MS, () => this.#doubt());
    try {
      return await Promise.race([work, promise]);
    } finally {
      this.#requests.delete(request);
      if (this.#requests.size === 0) {
        this.#cancelDoubt?.();
        this.#cancelDoubt = undefined;
      }
    }
  }

  #doubt(): void {
    this.#cancelDoubt = this.#clock.after(DOUBT_MS, () => this.#doubt());
    const [oldest] = this.#requests;
    if (oldest !== undefined && this.#clock.now() - oldest.since >= DOUBT_MS) this.onDoubt();
  }

  #write(line: Line): void {
    if (!isOfStore(line.facts)) return this.#outer[line.level](line.facts, line.text);
    this.#held.push(line);
    this.onDoubt();
  }
}

/** Errors of the ingest process arrive as plain ones with the code. */
function isOfStore(facts: object): boolean {
  const error = 'err' in facts ? facts.err : undefined;
  return error instanceof Error && 'code' in error && error.code === 'STORE_UNAVAILABLE';
}

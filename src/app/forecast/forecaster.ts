import { backoffMs } from '../../lib/backoff.ts';
import type { Instant, Timing } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { ENOUGH_RUNS } from '../../policy/forecast.ts';
import type { Simulator } from '../../simulator/simulator.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { Store } from '../../storage/store.ts';
import type { LoadedQueue } from '../core/commit-draft.ts';
import type { Forecasting, QueueForecast } from '../core/forecasting.ts';
import { decodeCandidate } from '../core/queue-codec.ts';
import { MOST_RUNS, paceOf } from './read-pace.ts';

interface Known extends QueueForecast {
  readonly version: number;
}

/** A queue that changes all the time gets a new forecast this often. */
const LEAST_AGE_MS = 60_000;
/**
 * All forecasts of a server take at most a quarter of one core: each is followed by a rest of five times its time. The
 * garbage collector of the thread works beside it.
 */
const REST = 5;
/** Forecasts of queues that are not asked for are forgotten. */
const MOST_KNOWN = 500;

/** A queue whose forecast fails is tried again after a minute, then after two, and so on. */
const BACKOFF = { firstMs: 60_000, capMs: 60 * 60_000, spread: 1 };

interface Failed {
  readonly attempts: number;
  readonly retriesAt: Instant;
}

/** Makes forecasts only while somebody asks for them. A request never waits for one. */
// SPEC Z5
export class Forecaster implements Forecasting {
  readonly #store: Store;
  readonly #simulator: Simulator;
  readonly #clock: Timing;
  readonly #log: Log;
  readonly #known = new Map<QueueId, Known>();
  /** The queues that wait for a forecast, each in its latest state. */
  readonly #wanted = new Map<QueueId, LoadedQueue>();
  readonly #failed = new Map<QueueId, Failed>();
  #isBusy = false;

  constructor(parts: {
    readonly store: Store;
    readonly simulator: Simulator;
    readonly clock: Timing;
    readonly log: Log;
  }) {
    this.#store = parts.store;
    this.#simulator = parts.simulator;
    this.#clock = parts.clock;
    this.#log = parts.log;
  }

  /** The latest forecast; undefined before the first. An outdated one is made again later. */
  find(found: LoadedQueue): QueueForecast | undefined {
    const known = this.#known.get(found.id);
    const now = this.#clock.now();
    const dueAt = Math.max((known?.madeAt ?? 0) + LEAST_AGE_MS, this.retriesAt(found.id) ?? 0);
    if (known?.version !== found.version && now >= dueAt) this.#want(found);
    return known;
  }

  findMade(id: QueueId): QueueForecast | undefined {
    return this.#known.get(id);
  }

  retriesAt(id: QueueId): Instant | undefined {
    return this.#failed.get(id)?.retriesAt;
  }

  #want(found: LoadedQueue): void {
    this.#wanted.set(found.id, found);
    if (!this.#isBusy) void this.#work();
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    const startedAt = performance.now();
    const [found] = this.#wanted.values();
    if (found !== undefined) {
      this.#wanted.delete(found.id);
      await this.#make(found).then(
        () => this.#failed.delete(found.id),
        (error: unknown) => this.#fail(found.id, error),
      );
    }
    if (this.#wanted.size === 0 && found === undefined) {
      this.#isBusy = false;
      return;
    }
    this.#clock.after(REST * (performance.now() - startedAt), () => void this.#work());
  }

  // SPEC Z9
  #fail(id: QueueId, error: unknown): void {
    const attempts = (this.#failed.get(id)?.attempts ?? 0) + 1;
    const retriesAt = this.#clock.now() + backoffMs(attempts - 1, BACKOFF);
    remember(this.#failed, id, { attempts, retriesAt });
    this.#log.warn({ err: error, queue: id, attempts, retriesAt }, 'forecast failed');
  }

  async #make({ id, version, queue }: LoadedQueue): Promise<void> {
    const rows = await this.#store.queueRecords.listEndedCandidates(id, MOST_RUNS);
    const now = this.#clock.now();
    const pace = paceOf(queue, rows.map(decodeCandidate), now);
    const decided = pace.runs.filter(({ passed }) => passed !== undefined);
    const basis = { samples: 0, runs: decided.length, since: decided[0]?.endedAt };
    let known: Known = { version, madeAt: now, entries: new Map(), next: undefined, basis };
    if (decided.length >= ENOUGH_RUNS) {
      const { samples, ...told } = await this.#simulator.forecast({ queue, now, pace, seed: `${version}` });
      known = { ...known, ...told, basis: { ...basis, samples } };
    }
    remember(this.#known, id, known);
  }
}

/** The newest is the last one, and the first is dropped. */
function remember<T>(map: Map<QueueId, T>, id: QueueId, value: T): void {
  map.delete(id);
  map.set(id, value);
  for (const [oldest] of map) if (map.size > MOST_KNOWN) map.delete(oldest);
}

import type { Timing } from '../../lib/clock.ts';
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
/** All forecasts of a server take at most a quarter of one core: each is followed by a rest of three times its time. */
const REST = 3;
/** Forecasts of queues that are not asked for are forgotten. */
const MOST_KNOWN = 500;

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
    const age = this.#clock.now() - (known?.madeAt ?? Number.NEGATIVE_INFINITY);
    if (known?.version !== found.version && age >= LEAST_AGE_MS) this.#want(found);
    return known;
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
      await this.#make(found).catch((error: unknown) => this.#log.warn({ err: error }, 'forecast failed'));
    }
    if (this.#wanted.size === 0 && found === undefined) {
      this.#isBusy = false;
      return;
    }
    this.#clock.after(REST * (performance.now() - startedAt), () => void this.#work());
  }

  async #make({ id, version, queue }: LoadedQueue): Promise<void> {
    const rows = await this.#store.queues.listEndedCandidates(id, MOST_RUNS);
    const now = this.#clock.now();
    const pace = paceOf(queue, rows.map(decodeCandidate), now);
    const decided = pace.runs.filter(({ passed }) => passed !== undefined);
    const basis = { samples: 0, runs: decided.length, since: decided[0]?.endedAt };
    let known: Known = { version, madeAt: now, entries: new Map(), next: undefined, basis };
    if (decided.length >= ENOUGH_RUNS) {
      const { samples, ...told } = await this.#simulator.forecast({ queue, now, pace, seed: `${version}` });
      known = { ...known, ...told, basis: { ...basis, samples } };
    }
    // The newest is the last one, and the first is dropped.
    this.#known.delete(id);
    this.#known.set(id, known);
    for (const [oldest] of this.#known) if (this.#known.size > MOST_KNOWN) this.#known.delete(oldest);
  }
}

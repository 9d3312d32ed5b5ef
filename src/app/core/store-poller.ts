import { type Instant, pause, type Timing } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { Log } from '../../lib/log.ts';
import { PeriodicTask } from '../../lib/periodic.ts';
import type { Store } from '../../storage/store.ts';
import type { Waiting } from '../../storage/waiting.ts';
import type { StoreHealth } from './store-health.ts';

/** Signals that follow each other within this time share a read. */
const GATHER_MS = 200;
/** A store that takes longer than these counts as away. Short ones, because time in which this process did not run does not count. */
const TICK_MS = 500;
const TICKS = 10;
const TICKS_WHILE_AWAY = 2;
const AWAY_POLL_MS = 1_000;

/** The parts of a server that do stored work, whichever server stored it. */
interface Wakes {
  readonly effects?: () => void;
  readonly hints?: () => void;
  readonly deliveries?: () => void;
  readonly webhooks?: () => void;
  readonly uploads?: () => void;
  readonly entries?: () => void;
  readonly feed?: (stored: Pick<Waiting, 'hasEvents' | 'placed'>) => void;
}

/** A server wakes its own parts for what it stores itself. For the rest this one read is enough. */
// SPEC D40
export class StorePoller {
  readonly #store: Pick<Store, 'waiting' | 'signals'>;
  readonly #clock: Timing;
  readonly #wakes: Wakes;
  readonly #health: StoreHealth | undefined;
  readonly #rounds: PeriodicTask;
  #reading: Promise<Waiting> | undefined;
  #dueAt: Instant | undefined;

  constructor(
    {
      store,
      clock,
      log,
    }: { readonly store: Pick<Store, 'waiting' | 'signals'>; readonly clock: Timing; readonly log: Log },
    wakes: Wakes,
    health?: StoreHealth,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#wakes = wakes;
    this.#health = health;
    this.#rounds = new PeriodicTask(
      { clock, log },
      {
        firstMs: 0,
        everyMs: () => this.#findPause(),
        gatherMs: GATHER_MS,
        failure: 'could not read what waits in the store',
        round: () => this.#round(),
      },
    );
  }

  start(): void {
    this.#store.signals.listen(() => this.wake());
    this.#rounds.start();
  }

  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  wake(): void {
    this.#rounds.wake();
  }

  async #round(): Promise<void> {
    try {
      this.#tell(await this.#read());
      this.#health?.noteAnswer();
    } catch (error) {
      if (this.#health === undefined) throw error;
      this.#health.noteFailure(error);
    }
  }

  /** A read that hangs is not begun a second time. */
  async #read(): Promise<Waiting> {
    this.#reading ??= this.#store.waiting.read().finally(() => {
      this.#reading = undefined;
    });
    return Promise.race([this.#reading, this.#giveUp(this.#reading)]);
  }

  async #giveUp(reading: Promise<Waiting>): Promise<Waiting> {
    const ticks = this.#health?.isAway ? TICKS_WHILE_AWAY : TICKS;
    for (let tick = 0; tick < ticks && this.#reading === reading; tick++) await pause(this.#clock, TICK_MS);
    if (this.#reading === reading) throw new Fault('STORE_UNAVAILABLE', 'The store does not answer.');
    return reading;
  }

  #tell(waiting: Waiting): void {
    const { effectsAt, hintsAt, deliveriesAt } = waiting;
    const now = this.#clock.now();
    const isDue = (at: Instant | undefined) => at !== undefined && at <= now;
    if (isDue(effectsAt)) this.#wakes.effects?.();
    if (isDue(hintsAt)) this.#wakes.hints?.();
    if (isDue(deliveriesAt)) this.#wakes.deliveries?.();
    if (waiting.isWebhookBehind) this.#wakes.webhooks?.();
    if (waiting.hasUploads) this.#wakes.uploads?.();
    if (waiting.hasEntries) this.#wakes.entries?.();
    this.#wakes.feed?.(waiting);
    const later = [effectsAt, hintsAt, deliveriesAt].filter((at) => at !== undefined && at > now) as Instant[];
    this.#dueAt = later.length === 0 ? undefined : Math.min(...later);
  }

  #findPause(): number {
    if (this.#health?.isAway) return AWAY_POLL_MS;
    const pollMs = this.#store.signals.pollMs();
    return this.#dueAt === undefined ? pollMs : Math.min(pollMs, Math.max(1, this.#dueAt - this.#clock.now()));
  }
}

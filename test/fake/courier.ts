import type { Timing } from '../../src/lib/clock.ts';
import type { Prng } from '../../src/lib/prng.ts';
import type { Weather } from './weather.ts';

export interface CourierRates {
  readonly lost: number;
  readonly doubled: number;
  /** Delayed by hours instead of moments. */
  readonly late: number;
}

export interface CourierOptions<Message> {
  /** Prefix of the fault names in the weather's count. */
  readonly name: string;
  readonly clock: Timing;
  readonly random: Prng;
  readonly weather: Weather;
  readonly rates: CourierRates;
  /** Each message gets its own delay from this range, so messages overtake each other. */
  readonly delayMs: readonly [min: number, max: number];
  readonly lateMs?: readonly [min: number, max: number];
  readonly deliver: (message: Message) => void;
}

const LATE_MS = [60_000, 3 * 3_600_000] as const;

/** Delivers messages like the internet: some are lost, duplicated or late, and the order is random. */
export class Courier<Message> {
  readonly #options: CourierOptions<Message>;

  constructor(options: CourierOptions<Message>) {
    this.#options = options;
  }

  send(message: Message): void {
    if (this.#happens('lost')) return;
    this.#carry(message);
    if (this.#happens('doubled')) this.#carry(message);
  }

  #carry(message: Message): void {
    const { clock, random, delayMs, lateMs = LATE_MS, deliver } = this.#options;
    const [min, max] = this.#happens('late') ? lateMs : delayMs;
    clock.after(random.between(min, max), () => deliver(message));
  }

  #happens(fault: keyof CourierRates): boolean {
    const { weather, random, rates, name } = this.#options;
    // The random number is drawn in calm weather too, so that later draws do not depend on the weather.
    const isDrawn = random.chance(rates[fault]);
    if (!isDrawn || weather.isCalm) return false;
    weather.count(`${name}.${fault}`);
    return true;
  }
}

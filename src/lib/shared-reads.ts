import { type Instant, pause, type Timing } from './clock.ts';
import { gatherMs } from './gather.ts';

/** Callers that come during a read wait at least this long for each other. A read costs more than a request that shares it. */
const GATHER_MS = 8;

interface Turn<T> {
  readonly running: Promise<T>;
  readonly begunAt: Instant;
  next: Promise<T> | undefined;
}

/** A read that has begun may have missed what a caller knows of: callers that come later share the next one. */
export class SharedReads<Key, T> {
  readonly #clock: Timing;
  readonly #underWay = new Map<Key, Turn<T>>();

  constructor(clock: Timing) {
    this.#clock = clock;
  }

  get(key: Key, read: () => Promise<T>): Promise<T> {
    const present = this.#underWay.get(key);
    if (present === undefined) return this.#begin(key, read);
    present.next ??= this.#follow(key, present, read);
    return present.next;
  }

  async #follow(key: Key, { running, begunAt }: Turn<T>, read: () => Promise<T>): Promise<T> {
    await running.catch(() => undefined);
    await pause(this.#clock, gatherMs(GATHER_MS, this.#clock.now() - begunAt));
    return this.#begin(key, read);
  }

  #begin(key: Key, read: () => Promise<T>): Promise<T> {
    // A read that throws at once must end its turn too.
    const turn: Turn<T> = { running: (async () => read())(), begunAt: this.#clock.now(), next: undefined };
    this.#underWay.set(key, turn);
    const end = () => {
      if (turn.next === undefined) this.#underWay.delete(key);
    };
    turn.running.then(end, end);
    return turn.running;
  }
}

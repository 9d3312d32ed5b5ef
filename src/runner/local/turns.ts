/** Gives out so many turns at once. Who waits longest goes first, unless others with the same name hold more turns. */
export class Turns {
  readonly #limit: number;
  readonly #taken = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  #count = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Resolves to what gives the turn back; undefined where `stop` came before the turn. */
  take(share: string, stop: AbortSignal): Promise<(() => void) | undefined> {
    if (stop.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const onStop = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        resolve(undefined);
      };
      const begin = () => {
        stop.removeEventListener('abort', onStop);
        resolve(this.#begin(share));
      };
      const waiting: Waiting = { share, begin };
      stop.addEventListener('abort', onStop, { once: true });
      this.#waiting.push(waiting);
      this.#next();
    });
  }

  #begin(share: string): () => void {
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#count -= 1;
      const left = this.#takenBy(share) - 1;
      if (left === 0) this.#taken.delete(share);
      else this.#taken.set(share, left);
      this.#next();
    };
  }

  #next(): void {
    while (this.#count < this.#limit) {
      const next = this.#choose();
      if (next === undefined) return;
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#count += 1;
      this.#taken.set(next.share, this.#takenBy(next.share) + 1);
      next.begin();
    }
  }

  #choose(): Waiting | undefined {
    let chosen: Waiting | undefined;
    for (const waiting of this.#waiting) {
      if (chosen === undefined || this.#takenBy(waiting.share) < this.#takenBy(chosen.share)) chosen = waiting;
    }
    return chosen;
  }

  #takenBy(share: string): number {
    return this.#taken.get(share) ?? 0;
  }
}

interface Waiting {
  readonly share: string;
  begin(): void;
}

export interface Wish {
  readonly share: string;
  /** Lower ranks go first within a share. */
  readonly rank: number;
}

interface Share {
  readonly waiting: Waiting[];
  held: number;
  /** Number of the turn that this share got last. */
  lastTurn: number;
}

interface Waiting {
  readonly rank: number;
  begin(): void;
}

/**
 * Hands out a limited number of turns. The share with the fewest turns goes first; on a tie, the share whose last turn
 * was longest ago. Within a share the lowest rank goes first, then the longest wait.
 */
export class Turns {
  readonly #limit: number;
  readonly #shares = new Map<string, Share>();
  #held = 0;
  #given = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** True when at least as many wait as there are turns. */
  get isCrowded(): boolean {
    let waiting = 0;
    for (const share of this.#shares.values()) waiting += share.waiting.length;
    return waiting >= this.#limit;
  }

  /** Resolves to a function that returns the turn, or to undefined when `stop` came first. */
  take({ share: name, rank }: Wish, stop: AbortSignal): Promise<(() => void) | undefined> {
    if (stop.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const share = this.#shares.get(name) ?? { waiting: [], held: 0, lastTurn: 0 };
      this.#shares.set(name, share);
      const onStop = () => {
        share.waiting.splice(share.waiting.indexOf(waiting), 1);
        this.#forget(name, share);
        resolve(undefined);
      };
      const begin = () => {
        stop.removeEventListener('abort', onStop);
        resolve(this.#begin(name, share));
      };
      const waiting: Waiting = { rank, begin };
      stop.addEventListener('abort', onStop, { once: true });
      const place = share.waiting.findIndex((other) => other.rank > rank);
      share.waiting.splice(place < 0 ? share.waiting.length : place, 0, waiting);
      this.#next();
    });
  }

  #begin(name: string, share: Share): () => void {
    this.#held += 1;
    this.#given += 1;
    share.held += 1;
    share.lastTurn = this.#given;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#held -= 1;
      share.held -= 1;
      this.#forget(name, share);
      this.#next();
    };
  }

  #next(): void {
    while (this.#held < this.#limit) {
      const next = this.#choose()?.waiting.shift();
      if (next === undefined) return;
      next.begin();
    }
  }

  #choose(): Share | undefined {
    let chosen: Share | undefined;
    for (const share of this.#shares.values()) {
      if (share.waiting.length > 0 && (chosen === undefined || isBefore(share, chosen))) chosen = share;
    }
    return chosen;
  }

  #forget(name: string, { held, waiting }: Share): void {
    if (held === 0 && waiting.length === 0) this.#shares.delete(name);
  }
}

function isBefore(one: Share, other: Share): boolean {
  return one.held === other.held ? one.lastTurn < other.lastTurn : one.held < other.held;
}

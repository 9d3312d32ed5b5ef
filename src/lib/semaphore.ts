/** Chooses the next of those that wait, by its index. `holding` are those that have a slot. */
type Choose<Request> = (waiting: readonly Request[], holding: readonly Request[]) => number;

interface Waiter<Request> {
  readonly request: Request;
  begin(): void;
}

/** Hands out a limited number of slots: to the one that waits longest, or as `choose` decides. */
export class Semaphore<Request = void> {
  readonly #limit: number;
  readonly #choose: Choose<Request> | undefined;
  readonly #holding: Waiter<Request>[] = [];
  readonly #waiting: Waiter<Request>[] = [];

  constructor(limit: number, choose?: Choose<Request>) {
    this.#limit = limit;
    this.#choose = choose;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get isIdle(): boolean {
    return this.#waiting.length + this.#holding.length === 0;
  }

  /** True when at least as many wait as there are slots. */
  get isCrowded(): boolean {
    return this.#waiting.length >= this.#limit;
  }

  async run<T>(this: Semaphore, task: () => Promise<T>): Promise<T> {
    const release = await this.take();
    try {
      return await task();
    } finally {
      release?.();
    }
  }

  /** Resolves to a function that releases the slot, which may be called again. Undefined: `stop` came first. */
  take(request: Request, stop?: AbortSignal): Promise<(() => void) | undefined> {
    if (stop?.aborted === true) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const giveUp = () => {
        remove(this.#waiting, waiter);
        resolve(undefined);
      };
      const begin = () => {
        stop?.removeEventListener('abort', giveUp);
        resolve(() => this.#release(waiter));
      };
      const waiter = { request, begin };
      stop?.addEventListener('abort', giveUp, { once: true });
      this.#waiting.push(waiter);
      this.#next();
    });
  }

  #release(waiter: Waiter<Request>): void {
    remove(this.#holding, waiter);
    this.#next();
  }

  #next(): void {
    while (this.#holding.length < this.#limit) {
      const next = this.#takeNext();
      if (next === undefined) return;
      this.#holding.push(next);
      next.begin();
    }
  }

  #takeNext(): Waiter<Request> | undefined {
    if (this.#choose === undefined || this.#waiting.length === 0) return this.#waiting.shift();
    return this.#waiting.splice(this.#choose(this.#waiting.map(requestOf), this.#holding.map(requestOf)), 1)[0];
  }
}

function requestOf<Request>({ request }: Waiter<Request>): Request {
  return request;
}

function remove<Item>(items: Item[], item: Item): void {
  const index = items.indexOf(item);
  if (index >= 0) items.splice(index, 1);
}

/** More parallel writes would only make the forge throttle us. */
const AT_ONCE = 4;
/** When this many writes wait, further effects wait in the store. */
const MAX_WAITING = 100;

interface Share {
  busy: number;
  readonly waiting: (() => void)[];
}

/** Limits the writes in parallel for each owner at a forge: a slow owner does not hold up the others. */
export class WriteSlots {
  readonly #shares = new Map<string, Share>();

  isCrowded(name: string): boolean {
    return (this.#shares.get(name)?.waiting.length ?? 0) >= MAX_WAITING;
  }

  /** Resolves to a function that releases the slot. Undefined: `stop` came first. */
  take(name: string, stop: AbortSignal): Promise<(() => void) | undefined> {
    if (stop.aborted) return Promise.resolve(undefined);
    const share = this.#shares.get(name) ?? { busy: 0, waiting: [] };
    this.#shares.set(name, share);
    return new Promise((resolve) => {
      const begin = () => {
        stop.removeEventListener('abort', giveUp);
        share.busy += 1;
        resolve(() => this.#release(name, share));
      };
      const giveUp = () => {
        share.waiting.splice(share.waiting.indexOf(begin), 1);
        resolve(undefined);
      };
      if (share.busy < AT_ONCE) begin();
      else {
        stop.addEventListener('abort', giveUp, { once: true });
        share.waiting.push(begin);
      }
    });
  }

  #release(name: string, share: Share): void {
    share.busy -= 1;
    share.waiting.shift()?.();
    if (share.busy === 0) this.#shares.delete(name);
  }
}

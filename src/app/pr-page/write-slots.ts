/** More at once would only make a forge slow down. */
const AT_ONCE = 4;
/** Beyond this many that wait, the store is the better place to wait in. */
const MAX_WAITING = 100;

interface Share {
  busy: number;
  readonly waiting: (() => void)[];
}

/** Lets a few talk at once with each owner's part of a forge: one that is slow keeps nobody else from being told. */
export class WriteSlots {
  readonly #shares = new Map<string, Share>();

  isCrowded(name: string): boolean {
    return (this.#shares.get(name)?.waiting.length ?? 0) >= MAX_WAITING;
  }

  /** Resolves to what gives the turn back; undefined where `stop` came first. */
  take(name: string, stop: AbortSignal): Promise<(() => void) | undefined> {
    if (stop.aborted) return Promise.resolve(undefined);
    const share = this.#shares.get(name) ?? { busy: 0, waiting: [] };
    this.#shares.set(name, share);
    return new Promise((resolve) => {
      const begin = () => {
        stop.removeEventListener('abort', giveUp);
        share.busy += 1;
        resolve(() => this.#giveBack(name, share));
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

  #giveBack(name: string, share: Share): void {
    share.busy -= 1;
    share.waiting.shift()?.();
    if (share.busy === 0) this.#shares.delete(name);
  }
}

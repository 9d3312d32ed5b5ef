import { Semaphore } from '../../lib/semaphore.ts';

/** A batch is written at once. More parallel writes would only make the forge throttle us. */
const AT_ONCE = 8;
/** When this many writes wait, further effects wait in the store. */
const MAX_WAITING = 100;

/** Limits the writes in parallel for each owner at a forge: a slow owner does not hold up the others. */
export class WriteSlots {
  readonly #owners = new Map<string, Semaphore>();

  isCrowded(owner: string): boolean {
    return (this.#owners.get(owner)?.waiting ?? 0) >= MAX_WAITING;
  }

  /** Resolves to a function that releases the slot. Undefined: `stop` came first. */
  async take(owner: string, stop: AbortSignal): Promise<(() => void) | undefined> {
    if (stop.aborted) return undefined;
    const slots = this.#owners.get(owner) ?? new Semaphore(AT_ONCE);
    this.#owners.set(owner, slots);
    const release = await slots.take(undefined, stop);
    if (release === undefined) return undefined;
    return () => {
      release();
      if (slots.isIdle) this.#owners.delete(owner);
    };
  }
}

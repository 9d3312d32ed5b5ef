/** A body up to this size parses within a millisecond, so that it need not wait. */
const SMALL_BYTES = 64 * 1024;

/** Parses large bodies one after the other. After each, other requests get as much time as it took. */
// SPEC H15
export class ParseTurns {
  readonly #waiting: (() => void)[] = [];

  run(bytes: number, work: () => void): void {
    if (bytes <= SMALL_BYTES) return work();
    this.#waiting.push(work);
    if (this.#waiting.length === 1) setImmediate(this.#next);
  }

  readonly #next = (): void => {
    const begun = performance.now();
    this.#waiting[0]?.();
    this.#waiting.shift();
    if (this.#waiting.length === 0) return;
    const took = performance.now() - begun;
    // A timer alone could fire before the event loop has run once.
    setImmediate(() => setTimeout(this.#next, took));
  };
}

/** Parsed at once: it takes a millisecond. */
const SMALL_BYTES = 64 * 1024;

/** Has large bodies parsed one after the other. As long as one took is left for everybody else before the next one. */
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
    // A timer alone could be due before the event loop has come round once.
    setImmediate(() => setTimeout(this.#next, took));
  };
}

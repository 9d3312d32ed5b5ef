import type { ReadRun } from './read/read-run.ts';

/** How many tests ran, and failed without passing, whatever the size of the upload. */
export class TestCount {
  /** By the first 52 bits of the id, which differ enough: true where it has passed. Tests that only were skipped are not here. */
  readonly #ran = new Map<number, boolean>();

  add(runs: readonly ReadRun[]): void {
    for (const { testId, conclusion } of runs) {
      if (conclusion === 'SKIPPED') continue;
      const key = Number.parseInt(testId.slice(0, 8) + testId.slice(9, 13) + testId.slice(15, 16), 16);
      if (conclusion === 'SUCCESS') this.#ran.set(key, true);
      else if (!this.#ran.has(key)) this.#ran.set(key, false);
    }
  }

  get counts(): { readonly ran: number; readonly failed: number } {
    let failed = 0;
    for (const hasPassed of this.#ran.values()) if (!hasPassed) failed += 1;
    return { ran: this.#ran.size, failed };
  }
}

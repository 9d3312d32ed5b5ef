import type { ReadRun } from './read/read-run.ts';

/** Counts the tests that ran, and those that failed without passing, in small memory for any size of upload. */
export class TestCount {
  /**
   * Key: the first 52 bits of the test id, which are unique enough. Value: true if the test has passed. Tests that were
   * only skipped are absent.
   */
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

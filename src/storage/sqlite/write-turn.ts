/**
 * The turn to write, among the connections of this process. SQLite's own lock decides, but a connection that waits for
 * that lock polls with growing pauses. Here it is woken at once.
 */
export interface WriteTurn {
  take(): void;
  giveBack(): void;
}

/** A thread that ended without giving the turn back must not block the others for ever. */
const MAX_WAIT_MS = 100;
const FREE = 0;
const TAKEN = 1;

/** Shared by all threads that write. */
export function createTurnMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
}

export function createWriteTurn(memory: SharedArrayBuffer): WriteTurn {
  const state = new Int32Array(memory);
  return {
    take() {
      const deadline = performance.now() + MAX_WAIT_MS;
      while (Atomics.compareExchange(state, 0, FREE, TAKEN) !== FREE) {
        const leftMs = deadline - performance.now();
        if (leftMs <= 0) return;
        Atomics.wait(state, 0, TAKEN, leftMs);
      }
    },
    giveBack() {
      Atomics.store(state, 0, FREE);
      Atomics.notify(state, 0, 1);
    },
  };
}

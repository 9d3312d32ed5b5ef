import { pause } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { App } from './app.ts';

/** Results are stored up to 20 times a second: nearly every try finds a gap between two commits. */
const MAX_TRIES = 50;
const PAUSE_MS = 5;

/** Repeats a change of test results while results that arrive meanwhile win: then `tryChange` answers undefined. */
export async function betweenResults<T>(app: App, tryChange: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const changed = await tryChange();
    if (changed !== undefined) return changed;
    await pause(app.clock, PAUSE_MS * (1 + Math.random()));
  }
  throw new Fault('STORE_UNAVAILABLE', 'Results arrive too fast for this change. Try again.');
}

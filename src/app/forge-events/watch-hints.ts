import type { App } from '../core/app.ts';
import { PeriodicTask } from '../core/periodic.ts';

const EVERY_MS = 60_000;
/** What is due is looked at within a second; what a forge does not answer is not due. */
const LATE_MS = 30_000;

/** Says so when this server, or all of them, cannot keep up with what forges tell. */
export function createHintWatch({ store, clock, log }: App): PeriodicTask {
  return new PeriodicTask(clock, { firstMs: EVERY_MS, everyMs: EVERY_MS }, async () => {
    try {
      const waiting = await store.hints.countOverdue(clock.now() - LATE_MS);
      if (waiting > 0) log.warn({ waiting }, 'nobody has looked yet where forges told to look');
    } catch (error) {
      log.warn({ err: error }, 'could not count what waits to be looked at');
    }
  });
}

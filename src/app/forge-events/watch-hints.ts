import type { App } from '../core/app.ts';
import { PeriodicTask } from '../core/periodic.ts';

const EVERY_MS = 60_000;
/** A due hint is handled within a second, and a hint whose forge is away is not due: it waits for its backoff. */
const LATE_MS = 30_000;

/** Warns when the servers cannot keep up with webhooks. */
export function createHintWatch({ store, clock, log }: App): PeriodicTask {
  return new PeriodicTask(clock, { firstMs: EVERY_MS, everyMs: EVERY_MS }, async () => {
    try {
      const hints = await store.hints.countOverdue(clock.now() - LATE_MS);
      if (hints > 0) log.warn({ hints }, 'webhook hints overdue');
    } catch (error) {
      log.warn({ err: error }, 'could not count overdue webhook hints');
    }
  });
}

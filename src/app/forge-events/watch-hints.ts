import { PeriodicTask } from '../../lib/periodic.ts';
import type { App } from '../core/app.ts';

const EVERY_MS = 60_000;
/** A due hint is handled within a second, and a hint whose forge is away is not due: it waits for its backoff. */
const LATE_MS = 30_000;

/** Warns when the servers cannot keep up with webhooks. */
export function createHintWatch(app: App): PeriodicTask {
  const { store, clock, log } = app;
  const round = async () => {
    const hints = await store.hints.countOverdue(clock.now() - LATE_MS);
    if (hints > 0) log.warn({ hints }, 'webhook hints overdue');
  };
  const failure = 'could not count overdue webhook hints';
  return new PeriodicTask(app, { firstMs: EVERY_MS, everyMs: EVERY_MS, failure, round });
}

import type { App } from '../core/app.ts';
import { PeriodicTask } from '../core/periodic.ts';

const DAY_MS = 24 * 3_600_000;
/** The first time soon after the start, for servers that never live a whole day. */
const FIRST_MS = 60_000;
/** Events name target sets by their digest: what happened within this time can be replayed whole. */
const KEEP_TARGET_SETS_MS = 30 * DAY_MS;
const KEEP_LOGS_MS = 14 * DAY_MS;

/** Once a day, removes what nobody needs any more. */
export function createHousekeeping(app: App): PeriodicTask {
  return new PeriodicTask(app.clock, { firstMs: FIRST_MS, everyMs: DAY_MS }, () => tidy(app));
}

async function tidy({ store, clock, log }: App): Promise<void> {
  try {
    const removed = await store.queues.removeUnusedTargetSets(clock.now() - KEEP_TARGET_SETS_MS);
    if (removed > 0) log.info({ removed }, 'removed target sets that nothing names');
    const logs = await store.logs.removeBefore(clock.now() - KEEP_LOGS_MS);
    if (logs > 0) log.info({ removed: logs }, 'removed old output of checks');
    const hints = await store.hints.tidy(clock.now());
    if (hints > 0) log.info({ removed: hints }, 'forgot what forges told of long ago');
  } catch (error) {
    // Nothing depends on it today: tomorrow it is tried again.
    log.warn({ err: error }, 'could not remove what nobody needs any more');
  }
}

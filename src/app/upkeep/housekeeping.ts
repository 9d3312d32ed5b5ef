import { PeriodicTask } from '../../lib/periodic.ts';
import type { App } from '../core/app.ts';

const DAY_MS = 24 * 3_600_000;
/** The first round comes soon after the start, for servers that never run a whole day. */
const FIRST_MS = 60_000;
/** Stored events name target sets by digest. Those of this period can be replayed completely. */
const KEEP_TARGET_SETS_MS = 30 * DAY_MS;
/** The age at which an idempotency key is free again. */
const KEEP_ANSWERS_MS = DAY_MS;
const KEEP_LOGS_MS = 14 * DAY_MS;

/** Removes unused data once a day. */
export function createHousekeeping(app: App): PeriodicTask {
  const failure = 'could not remove unused data';
  return new PeriodicTask(app, { firstMs: FIRST_MS, everyMs: DAY_MS, failure, round: () => tidy(app) });
}

// SPEC R35
async function tidy({ store, clock, log }: App): Promise<void> {
  const removed = await store.queues.removeUnusedTargetSets(clock.now() - KEEP_TARGET_SETS_MS);
  if (removed > 0) log.info({ removed }, 'removed unused target sets');
  const logs = await store.logs.removeBefore(clock.now() - KEEP_LOGS_MS);
  if (logs > 0) log.info({ removed: logs }, 'removed old check logs');
  const answers = await store.idempotentRequests.tidy(clock.now() - KEEP_ANSWERS_MS);
  if (answers > 0) log.info({ removed: answers }, 'removed old answers to requests with a key');
  const hints = await store.hints.tidy(clock.now());
  if (hints > 0) log.info({ removed: hints }, 'removed old webhook hints');
}

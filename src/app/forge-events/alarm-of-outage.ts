import { formatInstant } from '../../lib/clock.ts';
import type { Repository } from '../../storage/repositories.ts';
import { raise } from '../core/alarms.ts';
import type { App } from '../core/app.ts';
import { type FoundQueue, formatRef } from '../core/find-queue.ts';

/** Short outages of a forge are normal. A longer one means that it is broken, or that our access was removed. */
const PATIENCE_MS = 5 * 60_000;

/** Raises one alarm for each outage of a repository. */
// SPEC N6
export async function alarmOfOutage(app: App, repository: Repository, queues: readonly FoundQueue[]): Promise<void> {
  const outage = app.outages.find(repository.id);
  if (outage === undefined || app.clock.now() - outage.since < PATIENCE_MS) return;
  const { since, text: why } = outage;
  const text = `${formatRef(repository)} cannot be read since ${formatInstant(since)}: ${why} Nothing is tested or landed until it can.`;
  for (const found of queues) {
    await raise(app, found, { id: `${found.id}/unreachable/${since}`, code: 'FORGE_UNREACHABLE', text });
  }
}

import type { AlarmCode } from '../../engine/model/effect.ts';
import type { Instant } from '../../lib/clock.ts';
import { isSame } from '../../lib/is-same.ts';
import { memo } from '../../lib/memo.ts';
import type { AlarmRow } from '../../storage/alarms.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { Store } from '../../storage/store.ts';
import type { App } from './app.ts';
import type { LoadedQueue } from './commit-draft.ts';
import { actEvent, SLUICE } from './feed-event.ts';
import { nameRepository } from './find-queue.ts';

/** The API shows the newest alarms of a queue only. The log and the metrics have all of them. */
const SHOWN_MS = 7 * 24 * 3_600_000;
const SHOWN = 10;
/** Queues are read often and alarms are rare. So an alarm that another server raised shows up within a second. */
const FRESH_MS = 1_000;

export type RecentAlarms = readonly AlarmRow[];

interface CachedAlarms {
  readonly readAt: Instant;
  readonly alarms: RecentAlarms;
}

const NONE: RecentAlarms = [];
const cacheOf = memo((_store: Store) => new Map<QueueId, CachedAlarms>());

// SPEC N1
export async function raise(
  app: App,
  { id: queueId, repositoryId, queue }: LoadedQueue,
  { id, code, text }: { readonly id: string; readonly code: AlarmCode; readonly text: string },
): Promise<void> {
  const { store, clock, log, feed } = app;
  const at = clock.now();
  const place = { repositoryId, queueId, targetBranch: queue.branch };
  const event = actEvent(at, { type: 'alarm.raised', actor: SLUICE, text, data: { code } }, place);
  const answer = await store.alarms.raise({ id, queueId, code, text, at }, [event]);
  feed.wake();
  cacheOf(store).delete(queueId);
  if (answer !== 'raised') return;
  log.error({ alarm: code, repository: await nameRepository(app, repositoryId), branch: queue.branch }, text);
}

// SPEC N7
export async function endAlarms(app: App, { id, repositoryId, queue }: LoadedQueue, code: AlarmCode): Promise<void> {
  const { store, clock, log, feed } = app;
  const at = clock.now();
  const place = { repositoryId, queueId: id, targetBranch: queue.branch };
  const text = `The alarm ${code} of the queue for ${queue.branch} has ended.`;
  const event = actEvent(at, { type: 'alarm.ended', actor: SLUICE, text, data: { code } }, place);
  await store.alarms.end({ queueId: id, code, at }, [event]);
  feed.wake();
  cacheOf(store).delete(id);
  const repository = await nameRepository(app, repositoryId);
  log.info({ alarm: code, repository, branch: queue.branch }, 'alarm ended');
}

/** Unchanged alarms are the same list, so that the reply made of it is cached. */
// SPEC N2, N9
export async function listRecentAlarms(
  { store, clock }: App,
  queueIds: readonly QueueId[],
): Promise<readonly RecentAlarms[]> {
  const cache = cacheOf(store);
  const now = clock.now();
  const isFresh = (known: CachedAlarms | undefined) => known !== undefined && Math.abs(now - known.readAt) < FRESH_MS;
  const old = queueIds.filter((id) => !isFresh(cache.get(id)));
  if (old.length > 0) {
    const rows = await store.alarms.list(old, now - SHOWN_MS, old.length * SHOWN);
    const byQueue = Map.groupBy(rows, ({ queueId }) => queueId);
    for (const id of old) {
      const before = cache.get(id)?.alarms ?? NONE;
      const alarms = (byQueue.get(id) ?? NONE).slice(0, SHOWN);
      cache.set(id, { readAt: now, alarms: isSame(before, alarms) ? before : alarms });
    }
  }
  return queueIds.map((id) => cache.get(id)?.alarms ?? NONE);
}

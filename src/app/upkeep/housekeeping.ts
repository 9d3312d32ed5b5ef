import { formatInstant } from '../../lib/clock.ts';
import type { HookNews } from '../../lib/hooks.ts';
import { PeriodicTask } from '../../lib/periodic.ts';
import type { RepositoryId } from '../../storage/repositories.ts';
import { tellOfEnds } from '../access/api-tokens.ts';
import { removeEndedSessions } from '../access/sessions.ts';
import { raise } from '../core/alarms.ts';
import type { App } from '../core/app.ts';
import { nameRepository } from '../core/find-queue.ts';
import { loadQueues } from '../queue/list-queues.ts';

const DAY_MS = 24 * 3_600_000;
/** The first round comes soon after the start, for servers that never run a whole day. */
const FIRST_MS = 60_000;
/** Stored events name target sets by digest. Those of this period, and of the past that is kept, can be read. */
const KEEP_TARGET_SETS_MS = 30 * DAY_MS;
/** A pack renews the target sets that it names, and commits wait a week to be packed. */
const PACKED_WITHIN_MS = 8 * DAY_MS;
/** The age at which an idempotency key is free again. */
const KEEP_ANSWERS_MS = DAY_MS;
const KEEP_LOGS_MS = 14 * DAY_MS;
const KEEP_DELIVERIES_MS = 30 * DAY_MS;
const EXPIRED_AT_ONCE = 1_000;

/** Removes unused data once a day, and tells of tokens that end soon. */
export function createHousekeeping(app: App, keep: { readonly eventDays: number }): PeriodicTask {
  const failure = 'could not remove unused data';
  const round = async () => {
    await tidy(app, keep.eventDays * DAY_MS);
    await removeEndedSessions(app);
    await tellOfEnds(app);
  };
  return new PeriodicTask(app, { firstMs: FIRST_MS, everyMs: DAY_MS, failure, round });
}
// SPEC R35, X5, X39, Y9
export async function tidy({ store, clock, log }: App, keepMs: number): Promise<void> {
  const { queues, logs, idempotentRequests, hints, feed, past, webhookDeliveries } = store;
  const now = clock.now();
  const keepSetsMs = Math.max(KEEP_TARGET_SETS_MS, keepMs + PACKED_WITHIN_MS);
  const removals: Readonly<Record<string, () => Promise<number>>> = {
    'unused target sets': () => queues.removeUnusedTargetSets(now - keepSetsMs),
    'old check logs': () => logs.removeBefore(now - KEEP_LOGS_MS),
    'old answers to requests with a key': () => idempotentRequests.tidy(now - KEEP_ANSWERS_MS),
    'old webhook hints': () => hints.tidy(now),
    'old events of the feed': () => inPieces((limit) => feed.expire(now - keepMs, limit)),
    'the oldest past of queues': () => inPieces((limit) => past.expire(now - keepMs, limit)),
    'old webhook deliveries': () => inPieces((limit) => webhookDeliveries.expire(now - KEEP_DELIVERIES_MS, limit)),
  };
  for (const [what, remove] of Object.entries(removals)) {
    const removed = await remove();
    if (removed > 0) log.info({ removed }, `removed ${what}`);
  }
}

/** One large delete would hold up every commit. */
async function inPieces(expire: (limit: number) => Promise<number>): Promise<number> {
  for (let removed = 0; ; ) {
    const expired = await expire(EXPIRED_AT_ONCE);
    removed += expired;
    if (expired < EXPIRED_AT_ONCE) return removed;
  }
}

/** Logs the output of repository hooks. Raises an alarm when they do not run, or take too long. */
export function tellOfHooks(app: App): void {
  for (const forge of app.forges.values()) {
    forge.onHooks?.((news) => {
      void report(app, news).catch((error: unknown) => app.log.warn({ err: error }, 'could not raise an alarm'));
    });
  }
}

async function report(app: App, news: HookNews): Promise<void> {
  if (news.kind === 'printed') {
    const repository = await nameRepository(app, news.source as RepositoryId);
    app.log.info({ repository, ref: news.ref, words: news.words }, 'output of repository hooks');
    return;
  }
  const repository = await app.directory.findRepositoryById(news.source as RepositoryId);
  if (repository === undefined) return;
  const alarm = news.kind === 'off' ? alarmOfOff(news.problem) : alarmOfStopped(news);
  // One alarm a day: otherwise every push would raise another.
  const day = formatInstant(app.clock.now()).slice(0, 10);
  for (const found of await loadQueues(app, [repository])) {
    await raise(app, found, { id: `${found.id}/${alarm.code}/${day}`, ...alarm });
  }
}

// SPEC L34
function alarmOfOff(problem: string) {
  const text = `Hooks of the repository do not run any more: ${problem}. What is tested and landed meanwhile, nobody tells them.`;
  return { code: 'HOOKS_OFF', text } as const;
}

// SPEC L33
function alarmOfStopped({ ref, words }: { readonly ref: string; readonly words: string }) {
  const printed = words === '' ? 'They printed nothing.' : `They printed last: ${words}`;
  const text = `Hooks that ran after the push of ${ref} did not end in time and were stopped. The push itself was done. ${printed}`;
  return { code: 'HOOKS_STOPPED', text } as const;
}

const EVERY_MS = 10_000;
/** A read of the past unpacks one pack. Smaller ones compress worse. */
const PACK_BYTES = 256 * 1024;
/** Commits of a quiet queue are packed at this age, so that retention reaches them. */
const MAX_AGE_MS = 7 * 24 * 3_600_000;

// SPEC Y7
export function createPacking(app: App): PeriodicTask {
  const failure = 'could not pack the past of queues';
  return new PeriodicTask(app, { firstMs: 0, everyMs: EVERY_MS, failure, round: (isStopped) => pack(app, isStopped) });
}

async function pack({ store, clock }: App, isStopped: () => boolean): Promise<void> {
  const now = clock.now();
  const of = { bytes: PACK_BYTES, before: now - MAX_AGE_MS, now };
  for (const queueId of await store.past.listUnpacked(of.bytes, of.before)) {
    while (!isStopped() && (await store.past.pack(queueId, of)) > 0);
  }
}

import { PeriodicTask } from '../../lib/periodic.ts';
import type { App } from '../core/app.ts';

const EVERY_MS = 10_000;
/** A read of the past unpacks one pack. Smaller ones compress worse. */
const PACK_BYTES = 256 * 1024;
/** Commits of a quiet queue are packed at this age, so that retention reaches them. */
const MAX_AGE_MS = 7 * 24 * 3_600_000;

/** Packs the stored commits of queues for reads of the past. */
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

import type { Clock, Instant } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { UploadWorkStore } from '../storage/uploads.ts';

const LOOK_EVERY_MS = 15_000;
const LATE_MS = 60_000;
const SAY_EVERY_MS = 60_000;

/** Logs when uploads wait too long, repeats it while they do, and logs the end. Call it often. */
// SPEC U40
export function createBacklogWatch(of: {
  readonly uploadWork: Pick<UploadWorkStore, 'measure'>;
  readonly clock: Clock;
  readonly log: Log;
}): () => Promise<void> {
  const { uploadWork, clock, log } = of;
  let lookAt: Instant = 0;
  let saidAt: Instant | undefined;
  let wasLate = false;
  let isSaid = false;
  return async () => {
    const now = clock.now();
    if (now < lookAt) return;
    lookAt = now + LOOK_EVERY_MS;
    const { waiting, oldestAt } = await uploadWork.measure();
    const oldestSeconds = oldestAt === null ? 0 : Math.round((now - oldestAt) / 1000);
    const isLate = oldestAt !== null && now - oldestAt > LATE_MS;
    // Late twice in a row: an old upload to be reprocessed, and uploads that came while the server was down, are no
    // backlog if they are processed at once.
    if (isLate && wasLate && (saidAt === undefined || now - saidAt >= SAY_EVERY_MS)) {
      log.warn({ waiting, oldestSeconds }, 'uploads wait to be processed');
      saidAt = now;
      isSaid = true;
    }
    if (!isLate && isSaid) {
      log.info({ waiting }, 'uploads no longer wait to be processed');
      isSaid = false;
    }
    wasLate = isLate;
  };
}

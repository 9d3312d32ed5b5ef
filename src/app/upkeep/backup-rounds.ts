import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { PeriodicTask } from '../../lib/periodic.ts';
import type { App } from '../core/app.ts';
import { kindOfBackups, nameBackup } from '../core/backups.ts';
import { isRefusal } from '../core/refusal.ts';
import { createBackup } from './backup.ts';

interface Schedule {
  readonly everyMs: number;
  readonly keep: number;
}

const FIRST_MS = 2_000;
/** A failed backup is tried again after this, or after the whole interval if that is shorter. */
const RETRY_MS = 10 * 60_000;
/** A machine may sleep, and a clock may be set: timers are no longer than this. */
const LONGEST_SLEEP_MS = 3_600_000;

const PREFIX = 'sluice-';
/** Strict, because matching files are removed. Killed servers leave unfinished ones. */
const SCHEDULED = /^sluice-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z\.(?:db|dump)(\.[0-9a-f-]{36}\.partial(-\w+)?)?$/;
const FINISHED = /\.(?:db|dump)$/;

/** Backs up the store on a schedule. A server that was off when a backup was due makes it when it is back. */
// SPEC D20
export function createBackupRounds(app: App, schedule: Schedule): PeriodicTask {
  let retryAt = 0;
  const dueAt = () => Math.max((app.backups.last?.at ?? Number.NEGATIVE_INFINITY) + schedule.everyMs, retryAt);
  const round = async () => {
    const now = app.clock.now();
    if (now < dueAt() && !isFromTheFuture(app)) return;
    retryAt = (await backUp(app, schedule)) ? 0 : now + Math.min(RETRY_MS, schedule.everyMs);
  };
  const everyMs = () => Math.min(Math.max(1_000, dueAt() - app.clock.now()), LONGEST_SLEEP_MS);
  return new PeriodicTask(app, { firstMs: FIRST_MS, everyMs, failure: 'could not remove old backups', round });
}

/** The clock was set back. The next backup must not wait until the clock gets there again. */
function isFromTheFuture({ backups, clock }: App): boolean {
  return backups.last !== undefined && backups.last.at > clock.now();
}

/** False if no backup was written. */
async function backUp(app: App, { keep }: Schedule): Promise<boolean> {
  const { folder } = app.backups.place;
  const problem = await tryBackup(
    app,
    path.join(folder, nameBackup(app.clock.now(), PREFIX, kindOfBackups(app.store))),
  );
  if (problem === undefined) {
    await removeOldest(folder, keep);
    return true;
  }
  app.backups.failures += 1;
  app.log.error({ folder, err: problem }, 'The scheduled backup failed. The server tries again.');
  return false;
}

async function tryBackup(app: App, file: string): Promise<unknown> {
  try {
    const backup = await createBackup(app, { file });
    return isRefusal(backup) ? new Error(backup.detail) : undefined;
  } catch (error) {
    return error;
  }
}

// SPEC D21
async function removeOldest(folder: string, keep: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => SCHEDULED.test(name)).sort();
  const finished = names.filter((name) => FINISHED.test(name));
  const unfinished = names.filter((name) => !FINISHED.test(name));
  for (const name of [...unfinished, ...finished.slice(0, -keep)]) await rm(path.join(folder, name), { force: true });
}

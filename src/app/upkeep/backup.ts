import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { assert } from '../../lib/assert.ts';
import { PeriodicTask } from '../../lib/periodic.ts';
import { findFileToken, restoreAccess } from '../access/admin-token.ts';
import type { App } from '../core/app.ts';
import { kindOfBackups, nameBackup } from '../core/backups.ts';
import { type Answer, isRefusal, type Refusal, refuse, refuseField } from '../core/refusal.ts';

interface Backup {
  readonly file: string;
  readonly sizeBytes: number;
}

// SPEC D24
export async function createBackup(app: App, input: { readonly file?: string }): Answer<Backup> {
  const at = app.clock.now();
  const file = resolveBackup(app, input.file ?? nameBackup(at, '', kindOfBackups(app.store)));
  if (isRefusal(file)) return file;
  const problem = await app.backups.findFolderProblem(file);
  if (problem !== undefined) return refuse('VALIDATION_FAILED', problem);
  const sizeBytes = await copyStore(app, file);
  app.backups.last = { at, sizeBytes };
  app.log.info({ file, sizeBytes }, 'backup written');
  return { file, sizeBytes };
}

async function copyStore({ backups, store }: App, file: string): Promise<number> {
  const { snapshots, writeDump } = store;
  try {
    if (writeDump !== undefined) return (await writeDump(file, backups.stopping)).sizeBytes;
    assert(snapshots !== undefined, 'a store on the disk can be copied');
    return (await snapshots.backup(file, (progress) => (backups.underWay = progress))).sizeBytes;
  } finally {
    backups.underWay = undefined;
  }
}

/** A bare name is a file in the server's own folder; an absolute path is used as it is. */
function resolveBackup(app: App, name: string): string | Refusal {
  if (path.isAbsolute(name)) return name;
  if (path.basename(name) === name && name !== '.' && name !== '..') return path.join(app.backups.place.folder, name);
  return refuseField('/file', 'must be a name without a folder, or an absolute path');
}

interface Restored {
  /** Holds a token that counts now. Null if the file is not needed or cannot be written. */
  readonly tokenFile: string | null;
}

// SPEC A30
export async function restoreBackup(app: App, input: { readonly file: string }): Answer<Restored> {
  const { snapshots } = app.store;
  if (snapshots === undefined) {
    const sentence = 'This server keeps its data in PostgreSQL. Stop all servers, and restore it with pg_restore.';
    return refuse('VALIDATION_FAILED', sentence);
  }
  const file = resolveBackup(app, input.file);
  if (isRefusal(file)) return file;
  const kept = await findFileToken(app);
  await app.queues.withWritesPaused(() => app.ingest.withWritesPaused(() => snapshots.restore(file, kept)));
  app.directory.forget();
  app.auth.forget();
  const tokenFile = (await restoreAccess(app)) ?? null;
  app.auth.forget();
  app.log.warn({ file, tokenFile }, 'backup restored');
  return { tokenFile };
}

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

// SPEC D20
export function createBackupRounds(app: App, schedule: Schedule): PeriodicTask {
  let retryAt = 0;
  const dueAt = () => Math.max((app.backups.last?.at ?? Number.NEGATIVE_INFINITY) + schedule.everyMs, retryAt);
  const round = async () => {
    const now = app.clock.now();
    // The clock was set back. The next backup must not wait until the clock gets there again.
    const isFromTheFuture = (app.backups.last?.at ?? now) > now;
    if (now < dueAt() && !isFromTheFuture) return;
    retryAt = (await backUp(app, schedule)) ? 0 : now + Math.min(RETRY_MS, schedule.everyMs);
  };
  const everyMs = () => Math.min(Math.max(1_000, dueAt() - app.clock.now()), LONGEST_SLEEP_MS);
  return new PeriodicTask(app, { firstMs: FIRST_MS, everyMs, failure: 'could not remove old backups', round });
}

/** False if no backup was written. */
async function backUp(app: App, { keep }: Schedule): Promise<boolean> {
  const { folder } = app.backups.place;
  const file = path.join(folder, nameBackup(app.clock.now(), PREFIX, kindOfBackups(app.store)));
  const problem = await createBackup(app, { file }).then(
    (backup) => (isRefusal(backup) ? new Error(backup.detail) : undefined),
    (error: unknown) => error,
  );
  if (problem === undefined) {
    await removeOldest(folder, keep);
    return true;
  }
  app.backups.failures += 1;
  app.log.error({ folder, err: problem }, 'The scheduled backup failed. The server tries again.');
  return false;
}

// SPEC D21
async function removeOldest(folder: string, keep: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => SCHEDULED.test(name)).sort();
  const finished = names.filter((name) => FINISHED.test(name));
  const unfinished = names.filter((name) => !FINISHED.test(name));
  for (const name of [...unfinished, ...finished.slice(0, -keep)]) await rm(path.join(folder, name), { force: true });
}

import path from 'node:path';
import { formatInstant } from '../../lib/clock.ts';
import type { App } from '../core/app.ts';
import { type Answer, isRefusal, type Refusal, refuse, refuseField } from '../core/refusal.ts';

export interface Backup {
  readonly file: string;
  readonly sizeBytes: number;
}

export async function createBackup(app: App, input: { readonly file: string | undefined }): Answer<Backup> {
  if (app.store.snapshots === undefined) return noSnapshots();
  const name = input.file ?? `${formatInstant(app.clock.now()).replaceAll(':', '-')}.db`;
  const file = resolveBackup(app, name);
  if (isRefusal(file)) return file;
  const { sizeBytes } = await app.store.snapshots.backup(file);
  app.log.info({ file, sizeBytes }, 'backup written');
  return { file, sizeBytes };
}

/** A bare name is a file in the server's own folder; an absolute path is used as it is. */
export function resolveBackup(app: App, name: string): string | Refusal {
  if (path.isAbsolute(name)) return name;
  if (path.basename(name) === name && name !== '.' && name !== '..') return path.join(app.backupFolder, name);
  return refuseField('/file', 'must be a name without a folder, or an absolute path');
}

export function noSnapshots(): Refusal {
  return refuse(
    'VALIDATION_FAILED',
    'This server keeps its data in PostgreSQL. Back it up with pg_dump and pg_restore.',
  );
}

export async function restoreBackup(app: App, input: { readonly file: string }): Answer<Record<string, never>> {
  const { snapshots } = app.store;
  if (snapshots === undefined) return noSnapshots();
  const file = resolveBackup(app, input.file);
  if (isRefusal(file)) return file;
  await app.queues.withWritesPaused(() => app.ingest.withWritesPaused(() => snapshots.restore(file)));
  app.directory.forget();
  app.auth.forget();
  app.log.warn({ file }, 'backup restored');
  return {};
}

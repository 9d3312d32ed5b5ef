import path from 'node:path';
import { assert } from '../../lib/assert.ts';
import { findFileToken, restoreAccess } from '../access/admin-token.ts';
import type { App } from '../core/app.ts';
import { kindOfBackups, nameBackup } from '../core/backups.ts';
import { type Answer, isRefusal, type Refusal, refuse, refuseField } from '../core/refusal.ts';

export interface Backup {
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

function noRestore(): Refusal {
  const sentence = 'This server keeps its data in PostgreSQL. Stop all servers, and restore it with pg_restore.';
  return refuse('VALIDATION_FAILED', sentence);
}

interface Restored {
  /** Holds a token that counts now. Null if the file is not needed or cannot be written. */
  readonly tokenFile: string | null;
}

// SPEC A30
export async function restoreBackup(app: App, input: { readonly file: string }): Answer<Restored> {
  const { snapshots } = app.store;
  if (snapshots === undefined) return noRestore();
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

import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, copyFile, link, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { Fault } from '../../lib/fault.ts';
import { sqliteDialect } from '../sql/dialect.ts';
import { migrate } from '../sql/migrate.ts';
import { StatementCompiler } from '../sql/statement.ts';
import type { SnapshotStore } from '../store.ts';
import { APPLICATION_ID, readPragma } from './database.ts';
import { SqliteEngine } from './engine.ts';
import { reasonOf, toStoreError } from './errors.ts';

/** Pages copied in one go: a megabyte, a few milliseconds, between which requests are served. */
const PAGES_PER_STEP = 256;
const HEADER = 'SQLite format 3\0';

export interface SnapshotOptions {
  readonly directory: string;
  readonly file: string;
  readonly engine: SqliteEngine;
  readonly afterRestore: () => Promise<void>;
}

export function createSnapshots(options: SnapshotOptions): SnapshotStore {
  // One after the other: they share the file that is restored from.
  let restoring: Promise<unknown> = Promise.resolve();
  return {
    backup: (file) => backUp(options.file, file),
    restore: (file) => {
      const restored = restoring.then(() => restore(options, file));
      restoring = restored.catch(() => {});
      return restored;
    },
  };
}

export function restoreFileIn(directory: string): string {
  return join(directory, 'restore.db');
}

async function backUp(live: string, target: string): Promise<{ readonly sizeBytes: number }> {
  const partial = `${target}.${randomUUID()}.partial`;
  try {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    if (await exists(target)) throw unusable(target, 'there is already a file of this name');
    await copyLive(live, partial);
    await sync(partial);
    const { size } = await stat(partial);
    await publish(partial, target);
    return { sizeBytes: size };
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw unusable(target, `it cannot be written (${reasonOf(error) ?? codeOf(error)})`, error);
  } finally {
    // What cannot be removed was never there, and the answer is already on its way.
    await rm(partial, { force: true }).catch(() => {});
  }
}

/**
 * Copies from a connection of its own inside one read transaction: it sees one state throughout, and commits that
 * arrive meanwhile neither wait for it nor make it start over.
 */
async function copyLive(live: string, partial: string): Promise<void> {
  await rm(partial, { force: true });
  const source = new DatabaseSync(live, { readOnly: true });
  try {
    source.exec('BEGIN');
    source.prepare('select count(*) from sqlite_master').get();
    await backup(source, partial, { rate: PAGES_PER_STEP });
    source.exec('COMMIT');
  } finally {
    source.close();
  }
  // The copy is a database with a log, as its source; without it, a backup is a single file.
  const copy = new DatabaseSync(partial);
  try {
    copy.exec('PRAGMA journal_mode = DELETE');
  } finally {
    copy.close();
  }
}

/** A link fails where the target exists, which a rename would replace; some file systems have no links. */
async function publish(partial: string, target: string): Promise<void> {
  try {
    await link(partial, target);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw unusable(target, 'there is already a file of this name', error);
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(codeOf(error))) throw error;
    if (await exists(target)) throw unusable(target, 'there is already a file of this name', error);
    await rename(partial, target);
  }
  await sync(dirname(target));
}

/**
 * The backup is copied, checked and migrated beside the live database, and then copied over it page by page inside one
 * transaction of SQLite's: a crash in the middle leaves what was there before.
 */
async function restore({ directory, file, engine, afterRestore }: SnapshotOptions, backupFile: string): Promise<void> {
  await checkHeader(backupFile);
  const copy = restoreFileIn(directory);
  try {
    await copyFile(backupFile, copy).catch((error) => {
      throw unusable(backupFile, `it cannot be copied into the data folder (${codeOf(error)})`, error);
    });
    const source = await openChecked(copy, { file, backupFile });
    try {
      await engine.holdWrites(() => backup(source, file, { rate: PAGES_PER_STEP }));
    } catch (error) {
      throw toStoreError(error);
    } finally {
      source.close();
    }
  } finally {
    await rm(copy, { force: true });
  }
  await afterRestore();
}

async function checkHeader(file: string): Promise<void> {
  let header: string;
  try {
    const handle = await open(file, 'r');
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER.length));
      header = buffer.toString('latin1', 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw unusable(file, `it cannot be read (${codeOf(error)})`, error);
  }
  if (header !== HEADER) throw unusable(file, 'it is not a backup of Sluice');
}

async function openChecked(copy: string, names: { file: string; backupFile: string }): Promise<DatabaseSync> {
  const db = new DatabaseSync(copy);
  try {
    if (readPragma(db, 'application_id') !== APPLICATION_ID) {
      throw unusable(names.backupFile, 'it is not a backup of Sluice');
    }
    if (readPragma(db, 'integrity_check') !== 'ok') throw unusable(names.backupFile, 'it is damaged');
    if (readPragma(db, 'page_size') !== pageSizeOf(names.file)) throw unusable(names.backupFile, 'it was rewritten');
    await migrate(new SqliteEngine(db), new StatementCompiler(sqliteDialect));
    return db;
  } catch (error) {
    db.close();
    throw asUnusable(names.backupFile, error);
  }
}

function pageSizeOf(file: string): unknown {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return readPragma(db, 'page_size');
  } finally {
    db.close();
  }
}

function asUnusable(file: string, error: unknown): Fault {
  if (!(error instanceof Fault)) return unusable(file, reasonOf(error) ?? 'it is damaged', error);
  if (error.code === 'STORE_TOO_NEW') return unusable(file, 'a newer version of Sluice wrote it', error);
  return error.code === 'BACKUP_UNUSABLE' ? error : unusable(file, error.detail, error);
}

function unusable(file: string, reason: string, cause?: unknown): Fault {
  return new Fault('BACKUP_UNUSABLE', `The backup ${file} cannot be used: ${reason}.`, { cause });
}

async function exists(file: string): Promise<boolean> {
  return access(file, constants.F_OK).then(
    () => true,
    () => false,
  );
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { Fault } from '../../lib/fault.ts';
import { closeToOthers, createPrivateFile, ensurePrivateFile } from '../../lib/private-files.ts';
import { fileReasonOf } from './errors.ts';

/** "Slui" in ASCII: tells a database of Sluice from any other. */
export const APPLICATION_ID = 0x536c7569;

export interface ConnectionOptions {
  /** How long it waits while another connection writes. */
  readonly busyTimeoutMs: number;
  /** The log is checkpointed after so many pages. A larger number copies pages that many commits change only once. */
  readonly logPages: number;
  /** Whether a commit waits for the disk. A synced commit on another connection also syncs all earlier ones. */
  readonly isSynced: boolean;
}

/** Other connections hold the database for some milliseconds at a time. */
const ANSWERING: ConnectionOptions = { busyTimeoutMs: 5000, logPages: 8000, isSynced: true };
/** Checkpoints before the answering connection would have to. After a power cut the last uploads come again. */
export const INGESTING: ConnectionOptions = { busyTimeoutMs: 10_000, logPages: 2000, isSynced: false };
/** After a large write the log is cut back to this size. */
const LOG_SIZE_BYTES = 64 * 1024 * 1024;
const CACHE_KIBIBYTES = 64 * 1024;

/** A file without content is then one that lost it: a first start would replace its admin token. */
// SPEC D10
export function ensureDatabase(file: string): void {
  const unfinished = `${file}-new`;
  try {
    if (existsSync(file)) {
      if (statSync(file).size === 0) throw emptied(file);
      return;
    }
    for (const each of [unfinished, ...logFilesOf(unfinished)]) rmSync(each, { force: true });
    createPrivateFile(unfinished);
    const db = new DatabaseSync(unfinished);
    try {
      db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    } finally {
      db.close();
    }
    renameSync(unfinished, file);
  } catch (error) {
    throw unusable(file, error);
  }
}

function emptied(file: string): Fault {
  return new Fault(
    'STORE_UNAVAILABLE',
    `The database ${file} is empty (0 bytes): it has lost its content. ` +
      'Put a backup in its place, or delete the file to begin anew.',
  );
}

export function openDatabase(file: string, options: ConnectionOptions = ANSWERING): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    ensurePrivateFile(file);
    for (const log of logFilesOf(file)) if (existsSync(log)) closeToOthers(log);
    db = new DatabaseSync(file, { timeout: options.busyTimeoutMs, enableForeignKeyConstraints: true });
    ensureOurs(db, file);
    db.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = ${options.isSynced ? 'FULL' : 'NORMAL'};
      PRAGMA temp_store = MEMORY;
      PRAGMA cache_size = -${CACHE_KIBIBYTES};
      PRAGMA wal_autocheckpoint = ${options.logPages};
      PRAGMA journal_size_limit = ${LOG_SIZE_BYTES};
    `);
    return db;
  } catch (error) {
    db?.close();
    throw unusable(file, error);
  }
}

function unusable(file: string, error: unknown): Fault {
  if (error instanceof Fault) return error;
  const sentence = `The database ${file} cannot be used: ${fileReasonOf(error)}.`;
  return new Fault('STORE_UNAVAILABLE', sentence, { cause: error });
}

/** The files that SQLite keeps beside a database while it is in use, or until it is next opened. */
export function logFilesOf(file: string): readonly string[] {
  return [`${file}-wal`, `${file}-shm`, `${file}-journal`];
}

function ensureOurs(db: DatabaseSync, file: string): void {
  const applicationId = readPragma(db, 'application_id');
  if (applicationId === APPLICATION_ID) return;
  const tables = db.prepare('select count(*) as count from sqlite_master').get();
  if (applicationId !== 0 || tables?.['count'] !== 0) {
    throw new Fault('STORE_UNAVAILABLE', `The database ${file} cannot be used: it is not one of Sluice.`);
  }
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
}

export function readPragma(db: DatabaseSync, name: string): unknown {
  return db.prepare(`PRAGMA ${name}`).get()?.[name];
}

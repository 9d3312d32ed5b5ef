import { open, stat } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { unusable } from '../../lib/backup-file.ts';
import { Fault } from '../../lib/fault.ts';
import { codeOf } from '../../lib/file-error.ts';
import type { OrganizationId } from '../accounts.ts';
import { createAccountStore } from '../sql/accounts.ts';
import { sqliteDialect } from '../sql/dialect.ts';
import { migrate } from '../sql/migrations/migrate.ts';
import { StatementCompiler } from '../sql/statement.ts';
import type { KeptToken } from '../store.ts';
import { APPLICATION_ID, readPragma } from './database.ts';
import { SqliteEngine } from './engine.ts';
import { fileReasonOf, isOutOfRoom, reasonOf } from './errors.ts';

const HEADER = 'SQLite format 3\0';

/** Closing a file that this process has locked would drop the lock. Inodes tell of links and other spellings. */
export async function refuseOwnFiles(backupFile: string, ownFiles: readonly string[]): Promise<void> {
  const identityOf = (file: string) => stat(file, { bigint: true });
  const given = await identityOf(backupFile).catch((error) => {
    throw unreadable(backupFile, error);
  });
  if (!given.isFile()) throw unusable(backupFile, 'it is not a file');
  for (const file of ownFiles) {
    const own = await identityOf(file).catch(() => undefined);
    if (own?.ino === given.ino && own.dev === given.dev) {
      throw unusable(backupFile, "it is one of this server's own files, and not a backup");
    }
  }
}

export async function checkHeader(file: string): Promise<void> {
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
    throw unreadable(file, error);
  }
  if (header !== HEADER) throw unusable(file, 'it is not a backup of Sluice');
}

/** Opens a copy of the backup and migrates it to the newest schema, if a server could work with its content. */
export async function openChecked(copy: string, names: { file: string; backupFile: string }): Promise<DatabaseSync> {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(copy);
    if (readPragma(db, 'application_id') !== APPLICATION_ID) {
      throw unusable(names.backupFile, 'it is not a backup of Sluice');
    }
    if (readPragma(db, 'integrity_check') !== 'ok') throw unusable(names.backupFile, 'it is damaged');
    if (readPragma(db, 'page_size') !== pageSizeOf(names.file)) throw unusable(names.backupFile, 'it was rewritten');
    if (!hasMigrations(db)) throw unusable(names.backupFile, 'it has no tables of Sluice');
    await migrate(new SqliteEngine(db), new StatementCompiler(sqliteDialect));
    refuseDeserted(db, names.backupFile);
    return db;
  } catch (error) {
    db?.close();
    throw asUnusable(names.backupFile, error);
  }
}

/** A copy of a live database without its log may lack every table, and migrating it would create them, all empty. */
export function hasMigrations(db: DatabaseSync): boolean {
  const table = db.prepare("select name from sqlite_master where type = 'table' and name = 'migrations'").get();
  return table !== undefined && db.prepare('select version from migrations limit 1').get() !== undefined;
}

function refuseDeserted(db: DatabaseSync, backupFile: string): void {
  if (db.prepare('select id from organizations limit 1').get() === undefined) {
    throw unusable(backupFile, 'it has no organization, so it is empty or a copy of only a part of a store');
  }
  const administrator = db.prepare(`
    select id from tokens
    where revoked_at is null and (expires_at is null or expires_at > ?)
      and exists (select 1 from json_each(tokens.scopes) where value = 'instance')
    limit 1
  `);
  if (administrator.get(Date.now()) === undefined) {
    throw unusable(backupFile, 'it has no valid token with the scope instance, so nobody could administer the server');
  }
}

// SPEC A30
export async function carryToken(copy: DatabaseSync, { token, organization }: KeptToken): Promise<void> {
  const accounts = createAccountStore(new SqliteEngine(copy), new StatementCompiler(sqliteDialect));
  if ((await accounts.findToken(token.hash)) !== undefined) return;
  const known = await accounts.findOrganizationById(organization.id);
  const organizationId = (known ?? (await accounts.findOrganization(organization.slug)))?.id ?? findOldest(copy);
  await accounts.insertToken({ ...token, organizationId });
}

function findOldest(copy: DatabaseSync): OrganizationId {
  const row = copy.prepare('select id from organizations order by created_at, id limit 1').get();
  return row?.['id'] as OrganizationId;
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
  if (isOutOfRoom(error)) return noRoom(file, error);
  if (!(error instanceof Fault)) return unusable(file, reasonOf(error) ?? 'it is damaged', error);
  if (error.code === 'STORE_TOO_NEW') return unusable(file, 'a newer version of Sluice wrote it', error);
  return error.code === 'BACKUP_UNUSABLE' ? error : unusable(file, error.detail, error);
}

export function noRoom(file: string, error: unknown): Fault {
  const reason = fileReasonOf(error instanceof Fault ? error.cause : error);
  return new Fault('STORE_UNAVAILABLE', `The backup ${file} cannot be restored: ${reason}.`, { cause: error });
}

function unreadable(file: string, error: unknown): Fault {
  return unusable(file, `it cannot be read (${codeOf(error)})`, error);
}

import { rmSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../lib/fault.ts';
import { sqliteDialect } from '../sql/dialect.ts';
import { migrate } from '../sql/migrations/migrate.ts';
import { createSqlParts, ensureSigningKey } from '../sql/sql-store.ts';
import { StatementCompiler } from '../sql/statement.ts';
import { WaitingQueues } from '../sql/waiting-queues.ts';
import type { Store } from '../store.ts';
import { ensureDatabase, INGESTING, openDatabase } from './database.ts';
import { SqliteEngine } from './engine.ts';
import { FULL_DISK_TEXT, fileReasonOf, isDiskFull } from './errors.ts';
import { type FolderLock, lockFolder } from './folder.ts';
import { createSnapshots, restoreFilesIn } from './snapshots.ts';
import { createWriteTurn, type WriteTurn } from './write-turn.ts';

export interface SqliteOptions {
  readonly directory: string;
  /** Shared by the connections of this process, so that a connection that waits to write is woken. */
  readonly writeTurn?: SharedArrayBuffer | undefined;
}

export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const lock = lockFolder(options.directory);
  try {
    // Left over if a server was killed during a restore.
    for (const file of restoreFilesIn(options.directory)) rmSync(file, { force: true });
    return await openLocked(options, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * A second connection to the store of this server, for the ingest thread. The owner of the folder's lock opens it after
 * its own connection, and closes it before.
 */
export async function openSqliteIngestStore(options: SqliteOptions): Promise<Store> {
  const engine = new SqliteEngine(openDatabase(fileIn(options.directory), INGESTING), turnOf(options));
  try {
    const compiler = new StatementCompiler(sqliteDialect);
    return {
      isShared: false,
      ...createSqlParts(engine, compiler),
      signingKey: await ensureSigningKey(engine, compiler),
      snapshots: undefined,
      close: async () => engine.close(),
    };
  } catch (error) {
    engine.close();
    throw error;
  }
}

async function openLocked(options: SqliteOptions, lock: FolderLock): Promise<Store> {
  const { directory } = options;
  const file = fileIn(directory);
  ensureDatabase(file);
  const engine = new SqliteEngine(openDatabase(file), turnOf(options));
  try {
    const compiler = new StatementCompiler(sqliteDialect);
    await migrate(engine, compiler);
    let signingKey = await ensureSigningKey(engine, compiler);
    const waiting = new WaitingQueues();
    const parts = createSqlParts(engine, compiler, waiting);
    const checkRoom = createRoomCheck(directory);
    const afterRestore = async () => {
      waiting.reset();
      signingKey = await ensureSigningKey(engine, compiler);
    };
    return {
      isShared: false,
      ...parts,
      get signingKey() {
        return signingKey;
      },
      ping: async () => {
        await parts.ping();
        await checkRoom();
      },
      snapshots: createSnapshots({ directory, file, engine, afterRestore }),
      close: async () => {
        engine.close();
        lock.release();
      },
    };
  } catch (error) {
    engine.close();
    throw error;
  }
}

function turnOf({ writeTurn }: SqliteOptions): WriteTurn | undefined {
  return writeTurn && createWriteTurn(writeTurn);
}

function fileIn(directory: string): string {
  return join(directory, 'sluice.db');
}

/** Less than this is used up by the next few requests. */
const PROBE = Buffer.alloc(256 * 1024);
/** Load balancers ask every second, several of them at once. */
const REMEMBERED_MS = 1_000;

/**
 * Whether the disk takes a write. Reading works on a full one, and SQLite may find room in its own files for a small write and
 * none for the next.
 */
// SPEC D9
function createRoomCheck(directory: string): () => Promise<void> {
  let last: { readonly atMs: number; readonly answer: Promise<void> } | undefined;
  return () => {
    const now = performance.now();
    if (last === undefined || now - last.atMs > REMEMBERED_MS) last = { atMs: now, answer: probe(directory) };
    return last.answer;
  };
}

async function probe(directory: string): Promise<void> {
  const file = join(directory, 'room-check');
  try {
    await writeFile(file, PROBE, { mode: 0o600 });
  } catch (error) {
    const told = isDiskFull(error) ? FULL_DISK_TEXT : undefined;
    throw new Fault('STORE_UNAVAILABLE', `The data folder cannot be written: ${fileReasonOf(error)}.`, {
      cause: error,
      told,
    });
  } finally {
    await rm(file, { force: true }).catch(() => undefined);
  }
}

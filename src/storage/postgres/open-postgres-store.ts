import { Fault } from '../../lib/fault.ts';
import { postgresDialect } from '../sql/dialect.ts';
import { migrate, type OnMigrated } from '../sql/migrations/migrate.ts';
import { createSqlParts, ensureSigningKey } from '../sql/sql-store.ts';
import { StatementCompiler } from '../sql/statement.ts';
import type { Store } from '../store.ts';
import { PostgresEngine } from './engine.ts';
import { toStoreError } from './errors.ts';
import { noticeRestore } from './notice-restore.ts';
import { createServer, type Server } from './pool.ts';
import { PostgresSignals } from './signals.ts';
import { writeDump } from './write-dump.ts';

const OLDEST_VERSION = 14;

export interface PostgresOptions {
  readonly url: string;
  readonly poolSize?: number;
  /** Skips migrations, because another connection of this server has run them. */
  readonly isMigrated?: boolean;
  /** Has one more connection, on which other processes tell that they wrote. */
  readonly isListening?: boolean;
  readonly onMigrated?: OnMigrated | undefined;
}

export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const server = createServer(options.url, options.poolSize);
  const signals = new PostgresSignals(server);
  const engine = new PostgresEngine(server, () => signals.noteWrite());
  const close = async () => {
    await signals.close();
    await engine.close();
  };
  try {
    await checkVersion(server);
    const compiler = new StatementCompiler(postgresDialect);
    if (options.isMigrated !== true) {
      await migrate(engine, compiler, options);
      await noticeRestore(engine, compiler);
    }
    if (options.isListening === true) await signals.start();
    return {
      isShared: true,
      signals,
      ...createSqlParts(engine, compiler),
      signingKey: await ensureSigningKey(engine, compiler),
      snapshots: undefined,
      writeDump: (file, signal) => writeDump(server, { url: options.url, file, signal }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function checkVersion({ connect, name }: Server): Promise<void> {
  const asked = connect().then((client) => client.query('SHOW server_version_num').finally(() => client.release()));
  const { rows } = await asked.catch((error: unknown) => {
    throw toStoreError(name, error);
  });
  const version = Math.floor(Number(rows[0]?.server_version_num) / 10_000);
  if (version >= OLDEST_VERSION) return;
  const sentence = `${name} cannot be used: it is version ${version}, and Sluice needs ${OLDEST_VERSION} or newer.`;
  throw new Fault('STORE_UNAVAILABLE', sentence);
}

import type { Config } from './config/config.ts';
import type { Log } from './lib/log.ts';
import type { OnMigrated } from './storage/sql/migrations/migrate.ts';
import type { Store } from './storage/store.ts';

/** The process that takes in uploads has connections of its own. */
const INGEST_CONNECTIONS = 1;
/** With fewer connections, none of them only listens. */
const ENOUGH_TO_LISTEN = 4;

/** Only the store that is configured is loaded. */
export async function openStore(config: Config, log: Log): Promise<Store> {
  // SPEC D44
  const onMigrated: OnMigrated = (step) => log.info(step, 'the store was migrated');
  if (config.databaseUrl !== undefined) {
    return openSharedStore(config.databaseUrl, config, onMigrated);
  }
  const { openSqliteStore } = await import('./storage/sqlite/open-sqlite-store.ts');
  return openSqliteStore({ directory: config.dataFolder, onMigrated });
}

/** Several servers share the store. The data folder, with clones and check workspaces, belongs to one server. */
async function openSharedStore(
  url: string,
  { dataFolder, databaseConnections }: Config,
  onMigrated: OnMigrated,
): Promise<Store> {
  const { openPostgresStore } = await import('./storage/postgres/open-postgres-store.ts');
  const { lockFolder } = await import('./storage/sqlite/folder.ts');
  const lock = lockFolder(dataFolder);
  try {
    const isListening = databaseConnections >= ENOUGH_TO_LISTEN;
    const poolSize = databaseConnections - INGEST_CONNECTIONS - (isListening ? 1 : 0);
    const store = await openPostgresStore({ url, poolSize, isListening, onMigrated });
    const close = () => store.close().finally(() => lock.release());
    return { ...store, close };
  } catch (error) {
    lock.release();
    throw error;
  }
}

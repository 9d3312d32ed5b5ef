import type { Config } from './config/config.ts';
import type { Store } from './storage/store.ts';

/** The process that takes in uploads has connections of its own. */
const INGEST_CONNECTIONS = 1;

/** Only the store that is configured is loaded. */
export async function openStore(config: Config): Promise<Store> {
  if (config.databaseUrl !== undefined) {
    return openSharedStore(config.databaseUrl, config);
  }
  const { openSqliteStore } = await import('./storage/sqlite/open-sqlite-store.ts');
  return openSqliteStore({ directory: config.dataFolder });
}

/** Several servers share the store. The data folder, with clones and check workspaces, belongs to one server. */
async function openSharedStore(url: string, { dataFolder, databaseConnections }: Config): Promise<Store> {
  const { openPostgresStore } = await import('./storage/postgres/open-postgres-store.ts');
  const { lockFolder } = await import('./storage/sqlite/folder.ts');
  const lock = lockFolder(dataFolder);
  try {
    const store = await openPostgresStore({ url, poolSize: databaseConnections - INGEST_CONNECTIONS });
    const close = () => store.close().finally(() => lock.release());
    return { ...store, close };
  } catch (error) {
    lock.release();
    throw error;
  }
}

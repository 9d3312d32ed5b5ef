import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/storage/sqlite/open-sqlite-store.ts';
import { storeContract } from './store.ts';

storeContract('SQLite', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-store-'));
  let store = await openSqliteStore({ directory });
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await openSqliteStore({ directory });
      return store;
    },
    close: async () => {
      await store.close();
      await rm(directory, { recursive: true });
    },
  };
});

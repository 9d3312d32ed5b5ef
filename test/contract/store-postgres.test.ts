import { openPostgresStore } from '../../src/storage/postgres/open-postgres-store.ts';
import { createDatabase } from '../helpers/postgres.ts';
import { storeContract } from './store.ts';

storeContract('PostgreSQL', async () => {
  const url = await createDatabase();
  let store = await openPostgresStore({ url });
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await openPostgresStore({ url });
      return store;
    },
    close: () => store.close(),
  };
});

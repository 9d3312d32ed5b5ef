import { before } from 'node:test';
import { openPostgresStore } from '../../src/storage/postgres/open-postgres-store.ts';
import { startPostgres, type TestPostgres } from '../helpers/postgres.ts';
import { storeContract } from './store.ts';

let postgres: TestPostgres;
before(async () => {
  postgres = await startPostgres();
});

storeContract('PostgreSQL', async () => {
  const url = await postgres.createDatabase();
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

import { createMemoryStore } from '../../src/storage/memory/create-memory-store.ts';
import { storeContract } from './store.ts';

storeContract('memory', async () => {
  const store = createMemoryStore();
  return { store, close: () => store.close() };
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { createMemoryStore } from '../../src/storage/memory/create-memory-store.ts';
import { openSqliteStore } from '../../src/storage/sqlite/open-sqlite-store.ts';
import type { Store } from '../../src/storage/store.ts';

/** Stores that need nothing of the machine. Whatever is opened is closed when the tests of the file are over. */
export const INGEST_STORES: readonly {
  readonly name: string;
  /** To open. */
  readonly isSlow: boolean;
  readonly open: () => Promise<Store>;
}[] = [
  { name: 'memory', isSlow: false, open: async () => createMemoryStore() },
  { name: 'SQLite', isSlow: true, open: openTemporary },
];

const opened: { readonly store: Store; readonly directory: string }[] = [];

async function openTemporary(): Promise<Store> {
  const directory = await mkdtemp(path.join(tmpdir(), 'sluice-ingest-'));
  const store = await openSqliteStore({ directory });
  opened.push({ store, directory });
  return store;
}

after(async () => {
  for (const { store, directory } of opened) {
    await store.close();
    await rm(directory, { recursive: true });
  }
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Fault, type FaultCode } from '../../src/lib/fault.ts';
import { openSqliteStore } from '../../src/storage/sqlite/open-sqlite-store.ts';
import type { Store } from '../../src/storage/store.ts';

/** A folder that goes with the test. */
export async function createFolder(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-store-'));
  t.after(() => rm(directory, { recursive: true }));
  return directory;
}

export async function openStore(t: TestContext, directory: string): Promise<Store> {
  const store = await openSqliteStore({ directory });
  t.after(() => store.close());
  return store;
}

/** For assert.rejects. */
export function isFault(code: FaultCode, detail: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof Fault && error.code === code && detail.test(error.detail);
}

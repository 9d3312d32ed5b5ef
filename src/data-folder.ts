import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from './config/config.ts';
import type { Log } from './lib/log.ts';

/** It survives a restart, so that the server can continue the leases it held before. */
export async function findServerId({ dataFolder }: Config): Promise<string> {
  const file = path.join(dataFolder, 'server-id');
  const present = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (/^[0-9a-f-]{36}$/.test(present)) return present;
  const id = randomUUID();
  await writeFile(file, `${id}\n`, { mode: 0o600 });
  return id;
}

// SPEC W26
export async function keepAddress({ dataFolder }: Config, url: string, log: Log): Promise<void> {
  const file = path.join(dataFolder, 'url');
  try {
    await writeFile(file, `${url}\n`, { mode: 0o600 });
  } catch (error) {
    // The address is printed anyway, and SLUICE_URL can replace it.
    log.warn({ err: error, file }, 'address file not written');
  }
}

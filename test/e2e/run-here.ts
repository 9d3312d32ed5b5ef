// The whole server in this process. Starting a process takes three times as long, most of it for loading modules.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseConfig } from '../../src/config/config.ts';
import type { Log } from '../../src/lib/log.ts';
import { start } from '../../src/main.ts';

const ignore = () => undefined;
const silence: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** Most tests upload nothing, and the thread loads as many modules as the server. */
const LONG_MS = 600_000;

export interface RunningHere {
  readonly url: string;
  /** Of the first administrator. */
  readonly token: string;
  stop(): Promise<void>;
}

/** `sluice serve` with these variables alone, without its output and its signals. */
export async function runHere(environment: Readonly<Record<string, string>>): Promise<RunningHere> {
  const parsed = parseConfig(environment);
  assert.ok('config' in parsed, JSON.stringify(parsed));
  const { url, stop } = await start(parsed.config, silence, { ingestStartMs: LONG_MS });
  const token = parsed.config.adminToken ?? (await readFile(join(parsed.config.dataFolder, 'admin-token'), 'utf8'));
  return { url, token: token.trim(), stop };
}

import { readVersion } from '../../lib/version.ts';
import type { Client } from './client.ts';
import { CliError } from './exit.ts';
import { clean, say } from './terminal.ts';

/** A sentence about a server of another version; undefined if both are the same, or either is unknown. */
// SPEC W38
export function describeVersionGap(server: string | undefined, own: string = readVersion()): string | undefined {
  const order = compareVersions(server ?? '', own);
  if (order === 0) return undefined;
  const advice = order > 0 ? 'Update this command' : 'Update the server';
  return `The server has version ${clean(server ?? '')}, this command ${own}. ${advice} if an answer looks wrong.`;
}

/** A server that does not know an operation is probably older: one line tells it. */
export async function warnOfVersionGap(client: Client, error: unknown): Promise<void> {
  const code = error instanceof CliError ? (error.problem as { code?: string } | undefined)?.code : undefined;
  if (code !== 'ROUTE_NOT_FOUND') return;
  const health = (await client.get('/healthz').catch(() => undefined)) as { version?: string } | undefined;
  const gap = describeVersionGap(health?.version);
  if (gap !== undefined) say(`sluice: ${gap}`);
}

/** Positive if `a` is newer. What is no version compares as equal. */
function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => /^(\d+)\.(\d+)\.(\d+)/.exec(text)?.slice(1).map(Number));
  if (left === undefined || right === undefined) return 0;
  const differs = left.findIndex((part, index) => part !== right[index]);
  return differs === -1 ? 0 : (left[differs] as number) - (right[differs] as number);
}

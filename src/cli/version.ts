import { readVersion } from '../lib/version.ts';
import { row } from './core/command.ts';
import type { Context } from './core/context.ts';
import { EXIT } from './core/exit.ts';
import { formatFacts } from './core/table.ts';
import { clean } from './core/terminal.ts';
import { judgeVersions } from './core/version-gap.ts';

export const VERSION = row({
  text: 'Print the version of this command; with --check that of the server too, and whether both work together.',
  takes: {
    '--check': 'Ask the server. It needs no token. The exit code is 1 if they may not work together.',
  },
  examples: ['sluice version', 'sluice version --check', 'sluice version --check --json'],
  run: showVersion,
});

async function showVersion(context: Context, { check }: { readonly check?: true }): Promise<void> {
  const version = readVersion();
  if (check === undefined) return context.show({ version }, () => version);
  const { client } = context;
  // The verdict says it.
  client.onVersionGap = () => undefined;
  const health = (await client.get('/healthz')) as { readonly version?: string };
  const server = { url: client.url, version: health.version ?? 'unknown' };
  const { worksTogether, sentence } = judgeVersions(server.version, version);
  const facts = formatFacts([
    ['Command', version],
    ['Server', `${clean(server.version)} at ${server.url}`],
  ]);
  context.show({ version, server, worksTogether, sentence }, () => `${facts}\n${sentence}`);
  if (!worksTogether) process.exitCode = EXIT.refused;
}

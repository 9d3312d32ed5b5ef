import type { Command } from 'commander';
import { readVersion } from '../lib/version.ts';
import { addExamples } from './core/arguments.ts';
import { type Context, withContext } from './core/context.ts';
import { EXIT } from './core/exit.ts';
import { formatFacts } from './core/table.ts';
import { clean } from './core/terminal.ts';
import { judgeVersions } from './core/version-gap.ts';

export function defineVersion(command: Command): void {
  command
    .description(
      'Print the version of this command; with --check that of the server too, and whether both work together.',
    )
    .option('--check', 'Ask the server. It needs no token. The exit code is 1 if they may not work together.')
    .action(withContext(showVersion));
  addExamples(command, ['sluice version', 'sluice version --check', 'sluice version --check --json']);
}

async function showVersion(context: Context, { check }: { readonly check?: true }): Promise<void> {
  const version = readVersion();
  if (check === undefined) return context.show({ version }, () => version);
  const { client } = context;
  // The verdict says it.
  client.onVersionGap = () => undefined;
  const health = (await client.get('/healthz')) as { readonly version?: string };
  const server = { url: client.url, version: health.version ?? 'unknown' };
  const { worksTogether, sentence } = judgeVersions(server.version, version);
  const facts: [string, string][] = [
    ['Command', version],
    ['Server', `${clean(server.version)} at ${server.url}`],
  ];
  context.show({ version, server, worksTogether, sentence }, () => `${formatFacts(facts)}\n${sentence}`);
  if (!worksTogether) process.exitCode = EXIT.refused;
}

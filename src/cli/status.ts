import { row } from './core/command.ts';
import type { Context } from './core/context.ts';
import { CliError } from './core/exit.ts';
import { formatFacts } from './core/table.ts';
import { clean, paint, write } from './core/terminal.ts';
import { formatAllAlarms, formatAllNotes, formatQueues } from './format-queue.ts';

/** Terminal lines besides the queues: the facts above, the head of the table, the prompt. */
const OTHER_LINES = 8;

export const STATUS = row({
  text: 'Show whether the server answers and is ready, its version, what protects it from checks, and how many pull requests each queue has in each state.',
  examples: ['sluice status', 'sluice status --url https://sluice.acme.dev', 'sluice status --json'],
  run: showStatus,
});

/** Shows partial results if a call fails; the exit code and the last message are those of the failure. */
async function showStatus(context: Context): Promise<void> {
  const { client, isJson } = context;
  const version = await readServerVersion(context);
  const readiness = await attempt(() => client.get('/readyz'));
  const isReady = !(readiness instanceof CliError);
  const queues = isReady ? await attempt(async () => (await context.call('listQueues', {})).queues) : readiness;
  const server = queues instanceof CliError ? queues : await attempt(() => context.call('getServer', {}));
  if (isJson) {
    const runner = server instanceof CliError ? {} : { runner: server.runner };
    const known = queues instanceof CliError ? {} : { ...runner, queues };
    context.show({ url: client.url, version, ready: isReady, ...known }, () => '');
  } else {
    const state = isReady ? paint('green', 'ready') : paint('red', 'not ready');
    write(
      formatFacts([
        ['Server', client.url],
        ['State', state],
        ['Version', clean(version)],
        ['Token', queues instanceof CliError ? undefined : `from ${context.token().source}`],
        ['Checks', server instanceof CliError ? undefined : clean(server.runner.sentence)],
      ]),
    );
    if (!(queues instanceof CliError)) {
      const shown = queueLimit(queues.length);
      const notes = formatAllNotes(queues.slice(0, shown));
      write(`\n${formatQueues(queues, shown)}${notes}${formatAllAlarms(queues)}`);
    }
  }
  // Drops the problem document, because --json has printed one already.
  if (queues instanceof CliError) throw new CliError(queues.exitCode, queues.message);
}

async function readServerVersion({ client }: Context): Promise<string> {
  const health = (await client.get('/healthz')) as { readonly version?: string };
  return health.version ?? 'unknown';
}

async function attempt<T>(task: () => Promise<T>): Promise<T | CliError> {
  try {
    return await task();
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
}

function queueLimit(count: number): number {
  return process.stdout.isTTY ? Math.max(5, process.stdout.rows - OTHER_LINES) : count;
}

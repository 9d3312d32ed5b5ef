import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { getSubmittedPullRequest, submitPullRequest } from '../src/contract/pull-requests.ts';
import { getQueue } from '../src/contract/queues.ts';
import { SLUICE_SOURCE } from '../test/helpers/sluice-command.ts';
import { printFigure, progress } from './lib/figure.ts';

const RUNS = 20;
/** CPU seconds of one command, Node's own start included. */
const GOAL = 0.2;

const COMMANDS = {
  'pr-status': ['pr', 'status', 'local/acme/app', 'main', '7'],
  'pr-submit': ['pr', 'submit', 'local/acme/app', 'main', '7'],
  'queue-show': ['queue', 'show', 'local/acme/app', 'main'],
};

/** The CPU time of a command, against a server that answers at once. */
export async function run(): Promise<void> {
  const { childrenCpuMs } = await import(new URL('../scripts/lib/cpu-time.mjs', import.meta.url).href);
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end(replyTo(request.url)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const [name, args] of Object.entries(COMMANDS)) {
    progress(`cli: ${RUNS} times ${args.join(' ')}`);
    // The first run fills the cache of compiled code.
    await runCommand(args, url);
    const before = childrenCpuMs();
    for (let count = 0; count < RUNS; count += 1) await runCommand(args, url);
    const value = (childrenCpuMs() - before) / 1000 / RUNS;
    printFigure({ name: `cli.${name}.cpu`, unit: 's', value, goal: GOAL });
  }
  server.close();
}

function replyTo(url = ''): string {
  const operation = [getSubmittedPullRequest, submitPullRequest, getQueue].find(({ path }) => url === `/v1${path}`);
  return JSON.stringify(operation?.example.reply ?? {});
}

async function runCommand(args: readonly string[], url: string): Promise<void> {
  const env = { ...process.env, SLUICE_URL: url, SLUICE_TOKEN: 'bench' };
  await promisify(execFile)(process.execPath, [SLUICE_SOURCE, ...args], { env });
}

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pollPullRequest, submitPullRequest } from '../src/contract/pull-requests.ts';
import { pollQueue } from '../src/contract/queues.ts';
import { uploadResults } from '../src/contract/uploads.ts';
import { readVersion } from '../src/lib/version.ts';
import { SLUICE_SOURCE } from '../test/helpers/sluice-command.ts';
import { median, printFigure, progress } from './lib/figure.ts';

const RUNS = 20;
/** CPU seconds of one command, Node's own start included. */
const GOAL = 0.2;
/** Seconds of `npx sluice upload` in a CI job that has installed the package of the command line. */
const UPLOAD_GOAL = 3;
const UPLOADS = 5;

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
  await measureUpload(url);
  server.close();
}

/** As a CI job does it: with the package, through npx, and under the Node of the PATH. */
async function measureUpload(url: string): Promise<void> {
  progress(`cli: ${UPLOADS} times npx sluice upload, of the package of the command line`);
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  try {
    const release = new URL('../scripts/release.mjs', import.meta.url).pathname;
    await promisify(execFile)(process.execPath, [release, '--draft', '--to', folder]);
    const archive = join(folder, `sluice-queue-cli-${readVersion()}.tgz`);
    await promisify(execFile)('npm', ['install', '--offline', '--no-audit', '--no-fund', archive], { cwd: folder });
    const report = '<testsuite name="net"><testcase name="adds" classname="net" time="0.1"/></testsuite>';
    await writeFile(join(folder, 'junit.xml'), report);
    const commit = ['--sha', '1'.repeat(40), '--branch', 'main', '--repo', 'github.com/acme/app'];
    const env = { ...process.env, SLUICE_URL: url, SLUICE_TOKEN: 'bench' };
    const seconds: number[] = [];
    // The first run fills caches.
    for (let count = 0; count <= UPLOADS; count += 1) {
      const startedAt = performance.now();
      await promisify(execFile)('npx', ['--no-install', 'sluice', 'upload', '*.xml', ...commit], { cwd: folder, env });
      seconds.push((performance.now() - startedAt) / 1000);
    }
    printFigure({ name: 'cli.npx-upload', unit: 's', value: median(seconds.slice(1)), goal: UPLOAD_GOAL });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const OPERATIONS = [pollPullRequest, submitPullRequest, pollQueue, uploadResults];

function replyTo(url = ''): string {
  const operation = OPERATIONS.find(({ path }) => url.split('?')[0] === `/v1${path}`);
  return JSON.stringify(operation?.example.reply ?? {});
}

async function runCommand(args: readonly string[], url: string): Promise<void> {
  const env = { ...process.env, SLUICE_URL: url, SLUICE_TOKEN: 'bench' };
  await promisify(execFile)(process.execPath, [SLUICE_SOURCE, ...args], { env });
}

import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { childrenOf, cpuSecondsOf, readProcess, serve } from './lib/child.ts';
import { printFigure, progress } from './lib/figure.ts';
import { call, createRepository, TOKEN } from './lib/world.ts';

const OPTIONS = {
  repositories: { type: 'string', default: '100' },
  entries: { type: 'string', default: '100' },
  seconds: { type: 'string', default: '60' },
} as const;

/** The first poll reads every entry. A minute later the git processes that it started end, and their files go. */
const SETTLING_MS = 90_000;
const AT_ONCE = 8;
const MEGABYTE = 1024 * 1024;

/** The cost of a server that has nothing to do: an empty one, and one with many repositories whose entries wait. */
export async function run(words: readonly string[] = []): Promise<void> {
  const { values } = parseArgs({ args: [...words], options: OPTIONS });
  const [repositories, entries, seconds] = [values.repositories, values.entries, values.seconds].map(Number);
  if (repositories === undefined || entries === undefined || seconds === undefined) return;
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-bench-footprint-'));
  try {
    // As operators install it: the sources in TypeScript need 80 MB more.
    const { buildSluice } = await import(new URL('../scripts/lib/build.mjs', import.meta.url).href);
    await buildSluice(path.join(folder, 'package'));
    await measure('footprint.empty', folder, { seconds, memoryGoal: 180, cpuGoal: 3 });
    await fill(folder, repositories, entries);
    await measure(`footprint.${repositories}x${entries}`, folder, { seconds, memoryGoal: 400, cpuGoal: 3 });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Goals {
  readonly seconds: number;
  readonly memoryGoal: number;
  readonly cpuGoal: number;
}

async function measure(name: string, folder: string, { seconds, memoryGoal, cpuGoal }: Goals): Promise<void> {
  const server = await serve(environmentOf(folder), commandIn(folder));
  progress(`${name}: ${seconds} s`);
  await sleep(SETTLING_MS);
  const before = cpuSecondsOf(server.pid);
  await sleep(seconds * 1_000);
  const percent = (100 * (cpuSecondsOf(server.pid) - before)) / seconds;
  printFigure({ name: `${name}.cpu`, unit: '% of one core', value: percent, goal: cpuGoal });
  printFigure({ name: `${name}.memory`, unit: 'MB', value: server.memory().now / MEGABYTE, goal: memoryGoal });
  const git = childrenOf(server.pid).reduce((sum, pid) => sum + residentBytes(pid), 0);
  printFigure({ name: `${name}.memory.git`, unit: 'MB', value: git / MEGABYTE });
  await server.stop();
}

/** Entries wait for a check that is never reported, one of them under test. */
async function fill(folder: string, repositories: number, entries: number): Promise<void> {
  const template = path.join(folder, 'template.git');
  createRepository(template, entries, 50);
  // Pushes leave each ref in a file of its own, in a folder of its own.
  const refs = execFileSync('git', ['-C', template, 'for-each-ref', '--format=%(refname)']).toString().trim();
  progress(`${refs.split('\n').length} refs in each of ${repositories} repositories`);
  const server = await serve(environmentOf(folder), commandIn(folder));
  const names = Array.from({ length: repositories }, (_, index) => `app-${index + 1}`);
  const next = names.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const name of next) {
        const git = path.join(folder, `${name}.git`);
        cpSync(template, git, { recursive: true });
        const queue = { repo: { host: 'local', owner: 'acme', name }, targetBranch: 'main' };
        await call(server.url, '/registerRepository', { repo: queue.repo, git });
        await call(server.url, '/createQueue', { ...queue, requiredStatuses: ['unit'], concurrency: 1 });
        for (let number = 1; number <= entries; number += 1)
          await call(server.url, '/submitPullRequest', { ...queue, pr: { number } });
        progress(`${name} is filled`);
      }
    }),
  );
  await server.stop();
}

function commandIn(folder: string): string {
  return path.join(folder, 'package', 'lib', 'sluice', 'sluice.mjs');
}

function environmentOf(folder: string): Record<string, string> {
  return { SLUICE_DATA: path.join(folder, 'data'), SLUICE_PORT: '0', SLUICE_ADMIN_TOKEN: TOKEN };
}

function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readProcess(pid, 'status') ?? '')?.[1] ?? 0) * 1024;
}

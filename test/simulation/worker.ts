import { parentPort } from 'node:worker_threads';
import type { ForgeKind } from './run-seeds.ts';
import { type RunOptions, type RunReport, simulate } from './simulate.ts';

// Thousands of faults are thrown, and their stack traces are never read.
Error.stackTraceLimit = 4;

/** A thread that runs the seeds it receives, one after the other. */
parentPort?.on('message', ({ forge, ...options }: RunOptions & { readonly forge: ForgeKind }) => {
  void run(forge, options).then((report) => parentPort?.postMessage(report));
});

/** Most runs need neither HTTP nor git. */
async function run(forge: ForgeKind, options: RunOptions): Promise<RunReport> {
  if (forge === 'model') return simulate(options);
  const { simulateGithub } = await import('./github/simulate-github.ts');
  return simulateGithub(options);
}

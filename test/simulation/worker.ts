import { parentPort } from 'node:worker_threads';
import type { ForgeKind } from './run-seeds.ts';
import { type RunOptions, type RunReport, simulate } from './simulate.ts';

// Faults are thrown by the thousand, and nobody reads where from.
Error.stackTraceLimit = 4;

/** A thread that runs the seeds it is told, one after the other. */
parentPort?.on('message', ({ forge, ...options }: RunOptions & { readonly forge: ForgeKind }) => {
  void run(forge, options).then((report) => parentPort?.postMessage(report));
});

/** Most runs need neither HTTP nor git. */
async function run(forge: ForgeKind, options: RunOptions): Promise<RunReport> {
  if (forge === 'model') return simulate(options);
  const { simulateGithub } = await import('./github/simulate-github.ts');
  return simulateGithub(options);
}

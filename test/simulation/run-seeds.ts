import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Stacks } from './conditions.ts';
import type { RunReport } from './simulate.ts';

/** The forge of a run: a model in memory, or the fake GitHub with real git. */
export type ForgeKind = 'model' | 'github';

export interface SeedsOptions {
  readonly seeds: readonly number[];
  readonly forge?: ForgeKind | undefined;
  readonly stacks?: Stacks | undefined;
  readonly jobs?: number | undefined;
  /** Starts no further seed after a failure. */
  readonly isBailing?: boolean | undefined;
  readonly onReport: (report: RunReport) => void;
}

/** Runs every seed once, on as many threads as cores. */
export async function runSeeds(options: SeedsOptions): Promise<void> {
  const { seeds, jobs = availableParallelism(), isBailing = false } = options;
  const waiting = seeds.values();
  let isOver = false;
  const onReport = (report: RunReport) => {
    options.onReport(report);
    isOver ||= isBailing && report.failure !== undefined;
  };
  const take = () => (isOver ? undefined : waiting.next().value);
  const count = Math.max(1, Math.min(jobs, seeds.length));
  await Promise.all(Array.from({ length: count }, () => runWorker(take, { ...options, onReport })));
}

function runWorker(take: () => number | undefined, { forge = 'model', stacks, onReport }: SeedsOptions): Promise<void> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url));
  return new Promise((resolve, reject) => {
    const next = () => {
      const seed = take();
      if (seed === undefined) void worker.terminate().then(() => resolve(), reject);
      else worker.postMessage({ seed, forge, stacks });
    };
    worker.on('message', (report: RunReport) => {
      onReport(report);
      next();
    });
    worker.on('error', reject);
    next();
  });
}

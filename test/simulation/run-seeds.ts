import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { StoreKind } from './sim-store.ts';
import type { RunReport } from './simulate.ts';

export interface SeedsOptions {
  readonly seeds: readonly number[];
  readonly store?: StoreKind | undefined;
  readonly jobs?: number | undefined;
  readonly onReport: (report: RunReport) => void;
}

/** Runs every seed once, on as many threads as there are cores. */
export async function runSeeds({ seeds, store, jobs = availableParallelism(), onReport }: SeedsOptions): Promise<void> {
  const waiting = seeds.values();
  const count = Math.max(1, Math.min(jobs, seeds.length));
  await Promise.all(Array.from({ length: count }, () => runWorker(waiting, { store, onReport })));
}

function runWorker(
  waiting: Iterator<number, undefined>,
  { store, onReport }: Pick<SeedsOptions, 'store' | 'onReport'>,
): Promise<void> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url));
  return new Promise((resolve, reject) => {
    const next = () => {
      const { value: seed, done } = waiting.next();
      if (done === true) void worker.terminate().then(() => resolve(), reject);
      else worker.postMessage({ seed, store });
    };
    worker.on('message', (report: RunReport) => {
      onReport(report);
      next();
    });
    worker.on('error', reject);
    next();
  });
}

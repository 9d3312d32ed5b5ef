import { parentPort } from 'node:worker_threads';
import { type RunOptions, simulate } from './simulate.ts';

// Faults are thrown by the thousand, and nobody reads where from.
Error.stackTraceLimit = 4;

/** A thread that runs the seeds it is told, one after the other. */
parentPort?.on('message', (options: RunOptions) => {
  void simulate(options).then((report) => parentPort?.postMessage(report));
});

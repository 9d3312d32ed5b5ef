// Shares test files out among a few processes.
import { availableParallelism } from 'node:os';
import { exitCodeOf } from './run-child.mjs';
import { TestChild } from './test-child.mjs';

const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Most files wait for processes and timers more than half of their time: three a core keep two cores busy. */
const defaultLanes = 2 * availableParallelism() + 2;

/**
 * Runs the files in their order, `lanes` at a time. Each lane has a process that runs one file after the other, until it
 * has become large; a file that `isApart` gets a process of its own. A file that takes longer than its limit fails with
 * its name, every process it started ends, and the lane goes on with another process.
 *
 * @param {{
 *   node: string, files: readonly string[], isApart: (file: string) => boolean, limitOf: (file: string) => number,
 *   onFile?: (result: import('./test-child.mjs').FileResult) => void,
 *   lanes?: number, cwd?: string, env?: Record<string, string>, endingMs?: number, largeBytes?: number,
 * }} options
 * @returns {Promise<{ results: import('./test-child.mjs').FileResult[], problems: string[] }>}
 */
export async function runTestFiles(options) {
  const { files, lanes = defaultLanes } = options;
  const run = { ...options, queue: [...files], children: new Set(), endings: [], results: [], problems: [] };
  const interrupt = (signal) => {
    for (const child of run.children) child.endNow();
    process.exit(exitCodeOf({ code: null, signal }));
  };
  for (const signal of forwardedSignals) process.on(signal, interrupt);
  await Promise.all(Array.from({ length: lanes }, () => runLane(run)));
  await Promise.all(run.endings);
  for (const signal of forwardedSignals) process.off(signal, interrupt);
  return { results: run.results, problems: run.problems };
}

async function runLane(run) {
  let child;
  for (let file = run.queue.shift(); file !== undefined; file = run.queue.shift()) {
    const isApart = run.isApart(file);
    if (isApart) letEnd(run, child);
    child = child === undefined || child.isOver || isApart ? start(run) : child;
    await runFile(run, child, file);
    if (!isApart && !child.isLarge) continue;
    letEnd(run, child);
    child = undefined;
  }
  letEnd(run, child);
}

/** It ends beside the others, as it may take a while. */
function letEnd(run, child) {
  if (child !== undefined) run.endings.push(finish(run, child));
}

function start(run) {
  const child = new TestChild(run);
  run.children.add(child);
  return child;
}

async function runFile(run, child, file) {
  const result = await child.run(file, run.limitOf(file));
  run.results.push(result);
  if (result.problem !== undefined) run.problems.push(`${file}: ${result.problem}`);
  run.onFile?.(result);
}

async function finish(run, child) {
  const end = child.isOver ? undefined : await child.finish();
  run.children.delete(child);
  if (end === undefined) return;
  const name = end.files.length === 1 ? end.files[0] : `${end.files.length} files in one process`;
  run.problems.push(`${name}: ${end.problem}\n${end.output}`.trimEnd());
}

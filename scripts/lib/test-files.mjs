// Runs test files in processes, and ends those that take longer than their limit.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endProcessTree } from './end-process-tree.mjs';
import { exitCodeOf } from './run-child.mjs';

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));
const reporters = [
  '--test-reporter=spec',
  '--test-reporter-destination=stdout',
  `--test-reporter=${pathOf('test-counter.mjs')}`,
  '--test-reporter-destination=stderr',
];
/** After its last test a process has this long to end. */
const endingMs = 60_000;
const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Two processes at a time: `together` in one, each of `apart` in one of its own. A file that takes longer than its limit
 * fails with its name, every process it started ends, and the files after it go on in another process.
 *
 * @param {{
 *   node: string, together: readonly string[], apart: readonly string[],
 *   limitOf: (file: string) => number, write: (text: string) => void, cwd?: string, endingMs?: number,
 * }} options
 * @returns {Promise<{ passed: number, failed: number, problems: readonly string[] }>}
 */
export async function runTestFiles(options) {
  const { together, apart } = options;
  const units = [...(together.length === 0 ? [] : [together]), ...apart.map((file) => [file])];
  const result = { passed: 0, failed: 0, problems: [] };
  const running = new Set();
  const interrupt = (signal) => {
    for (const pid of running) endProcessTree(pid);
    process.exit(exitCodeOf({ code: null, signal }));
  };
  for (const signal of forwardedSignals) process.on(signal, interrupt);
  const work = async () => {
    for (let files = units.shift(); files !== undefined; files = units.shift()) {
      for (let rest = files; rest.length > 0; ) rest = await runUnit(rest, { options, result, running });
    }
  };
  await Promise.all([work(), work()]);
  for (const signal of forwardedSignals) process.off(signal, interrupt);
  return result;
}

/** Answers which files are left to run. */
async function runUnit(files, { options, result, running }) {
  const { node, cwd, limitOf, write } = options;
  const child = spawn(node, [...reporters, pathOf('test-process.mjs')], {
    cwd,
    detached: process.platform !== 'win32',
    env: { ...colors(), ...process.env, SLUICE_TEST_FILES: files.join('\n') },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  running.add(child.pid);
  const output = collectOutput(child, { isLive: files.length > 1, write });
  let [present, overdue] = [files[0], undefined];
  const ended = new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal })));
  const watch = (ms, text) =>
    setTimeout(() => {
      overdue = text;
      endProcessTree(child.pid);
      // Somebody who left the tree may still hold the pipes.
      for (const stream of child.stdio) stream?.destroy();
    }, ms);
  let timer = watch(limitOf(present), tooLong(present, limitOf));
  createInterface({ input: child.stdio[3] }).on('line', (line) => {
    const message = JSON.parse(line);
    if (message.kind === 'test:pass') result.passed += 1;
    if (message.kind === 'test:fail') result.failed += 1;
    if (message.kind !== 'begun' && message.kind !== 'ended') return;
    clearTimeout(timer);
    present = message.file;
    const { endingMs: limitMs = endingMs } = options;
    timer =
      present === undefined
        ? watch(limitMs, `${nameOf(files)}: all tests ended, and the process did not within ${limitMs / 1000} s`)
        : watch(limitOf(present), tooLong(present, limitOf));
  });
  const code = exitCodeOf(await ended);
  clearTimeout(timer);
  running.delete(child.pid);
  write(output());
  if (overdue !== undefined) result.problems.push(overdue);
  else if (code !== 0) result.problems.push(`${present ?? nameOf(files)}: failed, with exit code ${code}`);
  const isCutOff = present !== undefined && (overdue !== undefined || code !== 0);
  return isCutOff ? files.slice(files.indexOf(present) + 1) : [];
}

function tooLong(file, limitOf) {
  return `${file}: took longer than its limit of ${limitOf(file) / 1000} s (scripts/lib/test-limits.mjs)`;
}

function nameOf(files) {
  return files.length === 1 ? files[0] : `${files.length} files in one process`;
}

/** The output of many files is shown as it comes, that of one file when it ended, so that two do not mix. */
function collectOutput(child, { isLive, write }) {
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text) => {
      if (isLive) write(text);
      else chunks.push(text);
    });
  }
  return () => chunks.join('');
}

function colors() {
  return process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};
}

// A process that runs test files (scripts/lib/test-process.mjs), as its parent sees it.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endProcessTree } from './end-process-tree.mjs';
import { exitCodeOf } from './run-child.mjs';

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));
const nodeOptions = [
  `--test-reporter=${pathOf('test-reporter.mjs')}`,
  '--test-reporter-destination=stdout',
  // Finding the real path of each module takes a fifth of the time of loading it.
  '--preserve-symlinks',
  '--preserve-symlinks-main',
];
/** After its last test a process has this long to end. */
const defaultEndingMs = 60_000;
const longestOutput = 20_000;
const outputDelayMs = 200;
/** The larger a process, the longer it takes to start another from it, and tests start many. */
const defaultLargeBytes = 400e6;

/**
 * @typedef {{
 *   file: string, ms: number, cpuMs: number, passed: number, skipped: number,
 *   failures: { name: string, error: string }[], problem: string | undefined, output: string,
 * }} FileResult
 */

export class TestChild {
  #child;
  #options;
  #exit;
  #isOver = false;
  #files = [];
  #hasFailures = false;
  #cpuMs = 0;
  #bytes = 0;
  /** The first file after which something was open that keeps a process from ending. */
  #opener;
  #output = '';
  #overdue;
  #running;
  #onMessage = () => {};

  /**
   * @param {{
   *   node: string, cwd?: string, env?: Record<string, string>, endingMs?: number, largeBytes?: number,
   * }} options
   */
  constructor(options) {
    const { node, cwd, env } = options;
    this.#options = options;
    this.#child = spawn(node, [...nodeOptions, pathOf('test-process.mjs')], {
      cwd,
      detached: process.platform !== 'win32',
      env: { ...withoutTestContext(process.env), ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    });
    const [, out, err, messages, orders] = this.#child.stdio;
    for (const stream of [out, err]) stream.setEncoding('utf8').on('data', (text) => this.#keep(text));
    createInterface({ input: messages }).on('line', (line) => this.#onMessage(JSON.parse(line)));
    // A crashed process is detected by its exit code.
    orders.on('error', () => {});
    this.#exit = new Promise((resolve) =>
      this.#child.on('close', (code, signal) => {
        this.#isOver = true;
        resolve(exitCodeOf({ code, signal }));
      }),
    );
  }

  get isOver() {
    return this.#isOver;
  }

  get isLarge() {
    return this.#bytes > (this.#options.largeBytes ?? defaultLargeBytes);
  }

  /** Resolves when the file ends, when its process ends, or after `limitMs`. The last two end the process. */
  async run(file, limitMs) {
    const result = { file, ms: 0, cpuMs: 0, passed: 0, skipped: 0, failures: [], problem: undefined, output: '' };
    const startedAt = performance.now();
    this.#files.push(file);
    this.#output = '';
    this.#running = undefined;
    const timer = this.#endAfter(
      limitMs,
      `took longer than its limit of ${limitMs / 1000} s (scripts/lib/test-kinds.mjs)`,
    );
    const ended = new Promise((resolve) => {
      this.#onMessage = (message) => this.#note(message, result, resolve);
    });
    this.#child.stdio[4].write(`${file}\n`);
    const code = await Promise.race([ended, this.#exit]);
    clearTimeout(timer);
    result.ms = performance.now() - startedAt;
    // Its last output may still be on the way.
    if (result.failures.length > 0) await new Promise((resume) => setTimeout(resume, outputDelayMs));
    result.output = this.#output;
    if (result.failures.length > 0) this.#hasFailures = true;
    if (code !== undefined) result.problem = this.#describeEnd(code);
    return result;
  }

  #note(message, result, resolve) {
    if (message.kind === 'running') this.#running = message.name;
    if (message.kind === 'passed') result.passed += 1;
    if (message.kind === 'skipped') result.skipped += 1;
    if (message.kind === 'failed') result.failures.push({ name: message.name, error: message.error });
    if (message.kind === 'uncaught')
      result.failures.push({ name: `nothing catches an error${this.#place}`, error: message.error });
    if (message.kind !== 'ended') return;
    result.cpuMs = message.cpuMs - this.#cpuMs;
    this.#cpuMs = message.cpuMs;
    this.#bytes = message.bytes;
    if (message.open.length === 0) this.#opener = undefined;
    else this.#opener ??= `${result.file} left open: ${message.open.join(', ')}`;
    resolve();
  }

  #describeEnd(code) {
    return `${this.#overdue ?? `its process ended with exit code ${code}`}${this.#place}`;
  }

  get #place() {
    return this.#running === undefined ? '' : `, in or after "${this.#running}"`;
  }

  /** Sends no more files. Returns the problem with how the process ends, if any. */
  async finish() {
    const { endingMs = defaultEndingMs } = this.#options;
    this.#child.stdio[4].end();
    const timer = this.#endAfter(endingMs, `all tests ended, and the process did not within ${endingMs / 1000} s`);
    const code = await this.#exit;
    clearTimeout(timer);
    const isExpected = code === 0 || (code === 1 && this.#hasFailures);
    if (this.#overdue === undefined && isExpected) return undefined;
    const reason = this.#overdue ?? `exit code ${code}`;
    const problem = this.#opener === undefined ? reason : `${reason} (${this.#opener})`;
    return { files: this.#files, problem, output: this.#output };
  }

  endNow() {
    endProcessTree(this.#child.pid);
  }

  #endAfter(ms, reason) {
    return setTimeout(() => {
      this.#overdue = reason;
      this.endNow();
      // A process that left the tree may still hold the pipes.
      for (const stream of this.#child.stdio) stream?.destroy();
    }, ms);
  }

  #keep(text) {
    this.#output = (this.#output + text).slice(-longestOutput);
  }
}

/** `node --test` sets it for its own children, which then write no report to us. */
function withoutTestContext({ NODE_TEST_CONTEXT: _, ...environment }) {
  return environment;
}

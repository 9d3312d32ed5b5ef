import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { Fault } from '../lib/fault.ts';
import type { EnvironmentOptions } from './environment.ts';
import { gitEnvironment } from './environment.ts';
import { createLimit } from './limit.ts';

export interface StartOptions extends EnvironmentOptions {
  /** A program to start git under. */
  readonly wrapper?: readonly string[];
  /** Ends git when the server stops. */
  readonly signal?: AbortSignal;
}

export interface RunOptions extends StartOptions {
  /** What the caller wanted, for the sentence of the fault: "Git could not {purpose}". */
  readonly purpose: string;
  /** Exit codes that are answers. Any other becomes a fault. */
  readonly expected?: readonly number[];
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
}

export interface RunResult {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_MAX_BYTES = 1024 * 1024;
const STDERR_BYTES = 4096;
const KILL_AFTER_MS = 5_000;

const limitLocal = createLimit(Math.max(4, availableParallelism() * 2));

/** The only place in Sluice that starts git. */
export function startGit(args: readonly string[], options: StartOptions): ChildProcessWithoutNullStreams {
  const [program = 'git', ...rest] = [...(options.wrapper ?? []), 'git', ...args];
  // The server's own working folder may vanish; git refuses to start in one that did.
  const child = spawn(program, rest, {
    cwd: '/',
    env: gitEnvironment(options),
    stdio: 'pipe',
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  // Node leaves the pipes out where the machine has no file descriptor left, and reports that later as an event.
  if (child.stdin === null || child.stdin === undefined) {
    child.once('error', ignore);
    throw new Fault('FORGE_UNAVAILABLE', 'Git could not be started: too many files are open.');
  }
  child.stdin.on('error', ignore);
  return child;
}

/** Runs git once. What it prints is bounded, so is its time, and its failures are faults of the forge. */
export function runGit(args: readonly string[], options: RunOptions): Promise<RunResult> {
  // A remote may keep its process for minutes; those must not hold up the reading of what is at hand.
  return options.remote === true ? runNow(args, options) : limitLocal(() => runNow(args, options));
}

async function runNow(args: readonly string[], options: RunOptions): Promise<RunResult> {
  const child = startGit(args, options);
  child.stdin.end();
  const stdout = collect(child, options.maxBytes ?? DEFAULT_MAX_BYTES);
  const stderr = keepTail(child);
  const stopTimer = killAfter(child, options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  const { code } = await exitOf(child).finally(stopTimer);
  if (stopTimer()) throw gitFault(options, 'it took too long');
  if (stdout.overflowed()) throw gitFault(options, 'it printed too much');
  const exitCode = code ?? -1;
  if (!(options.expected ?? [0]).includes(exitCode)) throw gitFault(options, stderr());
  return { exitCode, stdout: stdout.read(), stderr: stderr() };
}

/** Resolves when the process and its pipes are done; rejects where git could not be started at all. */
export function exitOf(child: ChildProcessWithoutNullStreams): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', (cause: NodeJS.ErrnoException) => reject(startFault(cause)));
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
}

export function gitFault(options: { readonly purpose: string; readonly gitDir?: string }, stderr: string): Fault {
  const reason = sentenceOf(
    options.gitDir === undefined ? stderr : stderr.replaceAll(options.gitDir, 'the repository'),
  );
  return new Fault('FORGE_UNAVAILABLE', `Git could not ${options.purpose}: ${reason}.`);
}

function startFault(cause: NodeJS.ErrnoException): Fault {
  if (cause.code === 'ENOENT')
    return new Fault('GIT_UNSUPPORTED', 'Git is not installed, or not in the PATH of the server.', { cause });
  if (cause.code === 'ABORT_ERR')
    return new Fault('SHUTTING_DOWN', 'The server stops and reads no more repositories.', { cause });
  return new Fault('FORGE_UNAVAILABLE', `Git could not be started (${cause.code ?? 'unknown error'}).`, { cause });
}

/** The line of git's complaint that says why, without what a URL may carry before its host. */
function sentenceOf(stderr: string): string {
  const lines = stderr
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const line = lines.find((candidate) => candidate.startsWith('fatal: ')) ?? lines.at(-1) ?? 'it gave no reason';
  return withoutCredentials(line.replace(/^(fatal|error): /, ''))
    .replace(/[\p{Cc}]/gu, ' ')
    .slice(0, 300)
    .replace(/\.$/, '');
}

export function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/\s]*@/g, '//');
}

export function keepTail(child: ChildProcessWithoutNullStreams): () => string {
  let tail = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-STDERR_BYTES);
  });
  return () => tail;
}

function collect(child: ChildProcessWithoutNullStreams, maxBytes: number) {
  const chunks: Buffer[] = [];
  let size = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
    else child.kill('SIGKILL');
  });
  return { read: () => Buffer.concat(chunks), overflowed: () => size > maxBytes };
}

/** The returned function stops the timer and says whether it had already struck. */
function killAfter(child: ChildProcessWithoutNullStreams, timeoutMs: number): () => boolean {
  let struck = false;
  let timer = setTimeout(() => {
    struck = true;
    // Asked politely first: git then ends the helpers it speaks to remotes through.
    child.kill('SIGTERM');
    timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
  }, timeoutMs);
  return () => {
    clearTimeout(timer);
    return struck;
  };
}

/** A process that ended early is reported by its exit, with a reason; the pipe it left behind has none. */
function ignore(): void {}

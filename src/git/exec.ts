import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { Fault } from '../lib/fault.ts';
import { sentenceOf } from './complaint.ts';
import type { EnvironmentOptions } from './environment.ts';
import { gitEnvironment } from './environment.ts';
import { cutLifeline, type LifelineKind, lifeline } from './lifeline.ts';
import { createLimit } from './limit.ts';

export interface StartOptions extends EnvironmentOptions {
  /** A program to start git under. */
  readonly wrapper?: readonly string[];
  /** Ends git and whatever it started when the server stops. It then ends too where the server just dies. */
  readonly signal?: AbortSignal;
  /** With `signal`: its lifeline is git's input, unless git has something to read there. */
  readonly lifeline?: LifelineKind;
}

export interface RunOptions extends StartOptions {
  /** What the caller wanted, for the sentence of the fault: "Git could not {purpose}". */
  readonly purpose: string;
  /** Exit codes that are answers. Any other becomes a fault. */
  readonly expected?: readonly number[];
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** What git reads from its standard input; not together with `signal`, whose lifeline that is. */
  readonly input?: Buffer;
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
/** Longer than a group takes to end, so that only what left the group can still hold the pipes. */
const HELD_PIPES_MS = 2_000;

const limitLocal = createLimit(Math.max(4, availableParallelism() * 2));

/** The only place in Sluice that starts git. */
export function startGit(args: readonly string[], options: StartOptions): ChildProcessWithoutNullStreams {
  const kind = options.lifeline ?? 'input';
  const { wrapper, detached } = options.signal === undefined ? { wrapper: [], detached: false } : lifeline(kind);
  const [program = 'git', ...rest] = [...wrapper, ...(options.wrapper ?? []), 'git', ...args];
  // The server's own working folder may vanish; git refuses to start in one that did.
  const child = spawn(program, rest, {
    cwd: '/',
    env: gitEnvironment(options),
    stdio: kind === 'beside' ? ['pipe', 'pipe', 'pipe', 'pipe'] : 'pipe',
    detached,
  }) as ChildProcessWithoutNullStreams;
  // Node leaves the pipes out where the machine has no file descriptor left, and reports that later as an event.
  if (child.stdin === null || child.stdin === undefined) {
    child.once('error', ignore);
    throw new Fault('FORGE_UNAVAILABLE', 'Git could not be started: too many files are open.');
  }
  child.stdin.on('error', ignore);
  child.stdio[3]?.on('error', ignore);
  return child;
}

/** Runs git once. What it prints is bounded, so is its time, and its failures are faults of the forge. */
export function runGit(args: readonly string[], options: RunOptions): Promise<RunResult> {
  // A remote may keep its process for minutes; those must not hold up the reading of what is at hand.
  return options.remote === true ? runNow(args, options) : limitLocal(() => runNow(args, options));
}

async function runNow(args: readonly string[], options: RunOptions): Promise<RunResult> {
  throwIfStopping(options.signal);
  const child = startGit(args, options);
  if (options.signal === undefined) child.stdin.end(options.input);
  const end = options.signal === undefined ? () => endPolitely(child) : () => cutLifeline(child);
  const stdout = collect(child, { maxBytes: options.maxBytes ?? DEFAULT_MAX_BYTES, end });
  const stderr = keepTail(child);
  const stopTimer = callAfter(options.timeoutMs ?? DEFAULT_TIMEOUT_MS, end);
  const stopListening = endOnAbort(child, options.signal);
  const { code } = await exitOf(child).finally(() => {
    stopTimer();
    stopListening();
  });
  throwIfStopping(options.signal);
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
    child.once('exit', () => {
      // A helper that went its own way, such as a shared ssh connection, may hold the pipes for good.
      const timer = setTimeout(() => closePipes(child), HELD_PIPES_MS);
      child.once('close', () => clearTimeout(timer));
    });
  });
}

function closePipes(child: ChildProcessWithoutNullStreams): void {
  for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy();
}

type FaultOptions = Pick<RunOptions, 'purpose' | 'gitDir' | 'access'>;

export function gitFault(options: FaultOptions, stderr: string): Fault {
  const complaint = options.gitDir === undefined ? stderr : stderr.replaceAll(options.gitDir, 'the repository');
  const reason = sentenceOf(complaint, options.access?.authorization);
  return new Fault('FORGE_UNAVAILABLE', `Git could not ${options.purpose}: ${reason}.`);
}

function startFault(cause: NodeJS.ErrnoException): Fault {
  if (cause.code === 'ENOENT')
    return new Fault('GIT_UNSUPPORTED', 'Git is not installed, or not in the PATH of the server.', { cause });
  return new Fault('FORGE_UNAVAILABLE', `Git could not be started (${cause.code ?? 'unknown error'}).`, { cause });
}

export function stoppingFault(): Fault {
  return new Fault('SHUTTING_DOWN', 'The server stops and reads no more repositories.');
}

export function throwIfStopping(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw stoppingFault();
}

export function keepTail(child: ChildProcessWithoutNullStreams): () => string {
  let tail = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-STDERR_BYTES);
  });
  return () => tail;
}

function collect(child: ChildProcessWithoutNullStreams, options: { readonly maxBytes: number; end(): void }) {
  const chunks: Buffer[] = [];
  let size = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= options.maxBytes) chunks.push(chunk);
    else options.end();
  });
  return { read: () => Buffer.concat(chunks), overflowed: () => size > options.maxBytes };
}

/** The returned function stops the timer and says whether it had already struck. */
export function callAfter(timeoutMs: number, action: () => void): () => boolean {
  let struck = false;
  const timer = setTimeout(() => {
    struck = true;
    action();
  }, timeoutMs);
  return () => {
    clearTimeout(timer);
    return struck;
  };
}

export function endPolitely(child: ChildProcessWithoutNullStreams): void {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
  child.once('exit', () => clearTimeout(timer));
}

export function endOnAbort(child: ChildProcessWithoutNullStreams, signal: AbortSignal | undefined): () => void {
  const end = () => {
    cutLifeline(child);
    closePipes(child);
  };
  signal?.addEventListener('abort', end, { once: true });
  return () => signal?.removeEventListener('abort', end);
}

/** A process that ended early is reported by its exit, with a reason; the pipe it left behind has none. */
function ignore(): void {}

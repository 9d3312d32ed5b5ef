import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { Fault } from '../lib/fault.ts';
import { Semaphore } from '../lib/semaphore.ts';
import { inSpan } from '../lib/trace.ts';
import { sentenceOf } from './complaint.ts';
import type { EnvironmentOptions } from './environment.ts';
import { gitEnvironment } from './environment.ts';
import { cutLifeline, type LifelineKind, lifeline } from './lifeline.ts';

export interface StartOptions extends EnvironmentOptions {
  /** A program to start git under. */
  readonly wrapper?: readonly string[];
  /** Ends git and all its children when the server stops. The lifeline also ends them when the server dies. */
  readonly signal?: AbortSignal;
  /** With `signal`: the lifeline is git's stdin, unless git has to read something there. */
  readonly lifeline?: LifelineKind;
}

export interface RunOptions extends StartOptions {
  /** Completes the fault's sentence: "Git could not {purpose}". */
  readonly purpose: string;
  /** Exit codes that count as answers. Any other one throws. */
  readonly expected?: readonly number[];
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** Data for git's stdin. Not together with `signal`, which uses stdin as the lifeline. */
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
/** Longer than a process group takes to end, so only a process that left the group can still hold the pipes. */
const HELD_PIPES_MS = 2_000;

const localSlots = new Semaphore(Math.max(4, availableParallelism() * 2));

/** The only place in Sluice that starts git. */
export function startGit(args: readonly string[], options: StartOptions): ChildProcessWithoutNullStreams {
  const kind = options.lifeline ?? 'input';
  const { wrapper, detached } = options.signal === undefined ? { wrapper: [], detached: false } : lifeline(kind);
  const [program = 'git', ...rest] = [...wrapper, ...(options.wrapper ?? []), 'git', ...args];
  // The server's own working folder may have been deleted, and git refuses to start in such a folder.
  const child = spawn(program, rest, {
    cwd: '/',
    env: gitEnvironment(options),
    stdio: kind === 'beside' ? ['pipe', 'pipe', 'pipe', 'pipe'] : 'pipe',
    detached,
  }) as ChildProcessWithoutNullStreams;
  // When the machine is out of file descriptors, Node leaves out the pipes and emits the error later.
  if (child.stdin === null || child.stdin === undefined) {
    child.once('error', ignore);
    throw new Fault('FORGE_UNAVAILABLE', 'Git could not be started: too many files are open.');
  }
  child.stdin.on('error', ignore);
  child.stdio[3]?.on('error', ignore);
  return child;
}

/** Runs git once, with bounded output and time. A failure becomes a fault of the forge. */
export function runGit(args: readonly string[], options: RunOptions): Promise<RunResult> {
  // A command on a remote may run for minutes, so it must not take a slot of local reads.
  return options.remote === true ? runNow(args, options) : localSlots.run(() => runNow(args, options));
}

function runNow(args: readonly string[], options: RunOptions): Promise<RunResult> {
  // Arguments may hold a path or a name.
  const command = args.find((argument) => /^[a-z][a-z-]*$/.test(argument)) ?? 'command';
  return inSpan({ name: `git ${command}`, kind: 'client' }, () => runOnce(args, options));
}

async function runOnce(args: readonly string[], options: RunOptions): Promise<RunResult> {
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

/** Resolves when the process and its pipes have closed. Rejects when git could not be started. */
export function exitOf(child: ChildProcessWithoutNullStreams): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', (cause: NodeJS.ErrnoException) => reject(startFault(cause)));
    child.once('close', (code, signal) => resolve({ code, signal }));
    child.once('exit', () => {
      // A detached helper, such as a shared ssh connection, may hold the pipes forever.
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

/** The returned function stops the timer and tells whether it had fired. */
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

/** The exit of a process gives the reason for its end. The error of its broken pipe gives none. */
function ignore(): void {}

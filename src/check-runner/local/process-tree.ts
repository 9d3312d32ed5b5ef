import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { Fault } from '../../lib/fault.ts';
import { askMarkedToEnd, killMarked, MARK } from './marked-processes.ts';
import type { Wrapped } from './protection.ts';
import { findInit, type Init, killInit } from './sandbox-init.ts';
import type { User } from './user.ts';

/**
 * Runs the command. A watcher in its process group waits for the end of an input that nobody writes to: it comes when the
 * server dies, of whatever, and then the group ends with it. While the watcher lives, no other process can get the number
 * of the group.
 */
const WATCHED = `
exec 3<&0 </dev/null 2>&1
{ trap "" TERM; read -r _ <&3; kill -TERM 0; sleep 1; kill -KILL 0; } >/dev/null 2>&1 &
exec 3<&-
exec "$@"`;

/** A command that was told to end gets this long to tidy up. */
const GRACE_MS = 3_000;
/** Another process that still holds the output open when all were killed is not waited for. */
const OUTPUT_MS = 1_000;
/** Of what a sandbox prints that cannot be made. */
const MAX_COMPLAINT_BYTES = 2_000;

export interface TreeOptions {
  readonly wrapped: Wrapped;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly user: User | undefined;
  /** Marks its processes: unique, and no beginning of another. */
  readonly mark: string;
  onOutput(bytes: Buffer): Promise<void>;
}

export interface TreeExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** Of what the command itself starts; what makes its sandbox has the mark alone. */
export function innerMarkOf(mark: string): string {
  return `${mark}in.`;
}

/** A command with everything it starts. */
export class ProcessTree {
  readonly #child: ChildProcess;
  readonly #exit: Promise<TreeExit>;
  readonly #output: Promise<void>;
  readonly #mark: string;
  readonly #token: Buffer | undefined;
  #init: Promise<Init | undefined> = Promise.resolve(undefined);
  #complaint = Buffer.alloc(0);
  #hasBegun: boolean;
  #isOver = false;

  constructor(options: TreeOptions) {
    const { wrapped, folder, environment, user, mark, onOutput } = options;
    this.#mark = mark;
    this.#token = wrapped.token === undefined ? undefined : Buffer.from(wrapped.token);
    this.#hasBegun = this.#token === undefined;
    this.#child = start(wrapped.argv, {
      cwd: folder,
      env: { ...environment, [MARK]: mark },
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
      ...user,
    });
    this.#child.stdin?.on('error', () => undefined);
    this.#exit = exitOf(this.#child);
    // Whoever waits for the end hears of a failure there.
    this.#exit.catch(() => undefined);
    this.#output = readAll(this.#child, (bytes) => this.#pass(bytes, onOutput));
    this.#output.catch(() => undefined);
  }

  /** When the command itself has ended; what it left running is then killed, and its output is complete. */
  async end(): Promise<TreeExit> {
    try {
      return await this.#exit;
    } finally {
      this.#kill('SIGKILL');
      this.#isOver = true;
      const init = await this.#init;
      if (init !== undefined) await killInit(init);
      if (this.#token === undefined) await killMarked(this.#mark);
      const timer = setTimeout(() => this.#child.stdout?.destroy(), OUTPUT_MS);
      await this.#output.finally(() => clearTimeout(timer));
      this.#child.stdin?.destroy();
    }
  }

  /** Undefined once the command has begun; until then, what its sandbox complains about. */
  get complaint(): string | undefined {
    return this.#hasBegun ? undefined : this.#complaint.toString().trim();
  }

  /** Politely first. */
  stop(): void {
    if (this.#token === undefined) this.#kill('SIGTERM');
    // A signal to the group would end the sandbox itself, and everything in it at once.
    else void askMarkedToEnd(innerMarkOf(this.#mark)).catch(() => undefined);
    const timer = setTimeout(() => void this.#forceEnd(), GRACE_MS);
    this.#exit.finally(() => clearTimeout(timer)).catch(() => undefined);
  }

  /** The init of a sandbox ends before those who wait for it: so its end is that of everything in it. */
  async #forceEnd(): Promise<void> {
    const init = await this.#init;
    if (init !== undefined) await killInit(init);
    this.#kill('SIGKILL');
  }

  async #pass(bytes: Buffer, onOutput: TreeOptions['onOutput']): Promise<void> {
    if (this.#hasBegun) return onOutput(bytes);
    const token = this.#token as Buffer;
    const all = Buffer.concat([this.#complaint, bytes]);
    const at = all.indexOf(token);
    // A token may come in two pieces: so its length is kept beyond what is shown.
    this.#complaint = all.subarray(0, MAX_COMPLAINT_BYTES + token.length);
    if (at === -1) return;
    this.#hasBegun = true;
    if (this.#child.pid !== undefined) this.#init = findInit(this.#child.pid);
    const rest = all.subarray(at + token.length);
    if (rest.length > 0) await onOutput(rest);
  }

  #kill(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.#child.pid === undefined || this.#isOver) return;
    try {
      process.kill(-this.#child.pid, signal);
    } catch {
      // Nothing of the group is left.
    }
  }
}

function start(argv: readonly string[], options: SpawnOptions): ChildProcess {
  try {
    return spawn('/bin/sh', ['-c', WATCHED, 'sh', ...argv], options);
  } catch (cause) {
    // Some refusals of the system are thrown, the others come as an event.
    throw notStarted(cause);
  }
}

function notStarted(cause: unknown): Fault {
  const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
  return new Fault('RUNNER_UNAVAILABLE', `A check could not be started (${code}).`, { cause });
}

function exitOf(child: ChildProcess): Promise<TreeExit> {
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => reject(notStarted(cause)));
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
}

async function readAll(child: ChildProcess, onOutput: (bytes: Buffer) => Promise<void>): Promise<void> {
  if (child.stdout === null) return;
  try {
    for await (const bytes of child.stdout) await onOutput(bytes as Buffer);
  } catch (error) {
    // Nobody waits for the rest of what a process prints that is to end.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { Fault } from '../../lib/fault.ts';
import { killMarked, MARK } from './marked-processes.ts';
import type { User } from './user.ts';

/**
 * What runs the command. A watcher in the command's process group waits for the end of an input that nobody writes to:
 * it comes when the server dies, of whatever, and then the group ends with it. While the watcher lives, no other process
 * can get the number of the group.
 */
const WATCHED = `
exec 3<&0 </dev/null 2>&1
{ trap "" TERM; read -r _ <&3; kill -TERM 0; sleep 1; kill -KILL 0; } >/dev/null 2>&1 &
exec 3<&-
exec /bin/sh -c "$1"`;

/** A command that was told to end gets this long to tidy up. */
const GRACE_MS = 3_000;
/** Whoever still holds the output open when all processes were killed is none of them, and is not waited for. */
const OUTPUT_MS = 1_000;

export interface TreeOptions {
  readonly command: string;
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

/** A command with everything it starts. */
export class ProcessTree {
  readonly #child: ChildProcess;
  readonly #exit: Promise<TreeExit>;
  readonly #output: Promise<void>;
  readonly #mark: string;
  #isOver = false;

  constructor(options: TreeOptions) {
    const { command, folder, environment, user, mark, onOutput } = options;
    this.#mark = mark;
    this.#child = start(command, {
      cwd: folder,
      env: { ...environment, [MARK]: mark },
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
      ...(user === undefined ? {} : { uid: user.uid, gid: user.gid }),
    });
    this.#child.stdin?.on('error', () => undefined);
    this.#exit = exitOf(this.#child);
    // Whoever waits for the end hears of a failure there.
    this.#exit.catch(() => undefined);
    this.#output = readAll(this.#child, onOutput);
    this.#output.catch(() => undefined);
  }

  /** When the command itself has ended; what it left running is then killed, and its output is complete. */
  async end(): Promise<TreeExit> {
    try {
      return await this.#exit;
    } finally {
      this.#kill('SIGKILL');
      this.#isOver = true;
      await killMarked(this.#mark);
      const timer = setTimeout(() => this.#child.stdout?.destroy(), OUTPUT_MS);
      await this.#output.finally(() => clearTimeout(timer));
      this.#child.stdin?.destroy();
    }
  }

  /** Politely first. */
  stop(): void {
    this.#kill('SIGTERM');
    const timer = setTimeout(() => this.#kill('SIGKILL'), GRACE_MS);
    this.#exit.finally(() => clearTimeout(timer)).catch(() => undefined);
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

function start(command: string, options: SpawnOptions): ChildProcess {
  try {
    return spawn('/bin/sh', ['-c', WATCHED, 'sh', command], options);
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

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { Fault } from '../../lib/fault.ts';
import { killMarked, MARK, signalMarked } from '../../lib/marked-processes.ts';
import { forEachProcess, kill, readProc, readStat } from '../../lib/proc.ts';
import type { ControlGroup } from './control-groups.ts';
import type { Wrapped } from './protection.ts';
import type { User } from './user.ts';

/**
 * Runs the command. A watcher in its process group reads a pipe that is never written. The pipe closes when the server
 * dies, and the watcher then kills the group. While the watcher lives, the kernel cannot reuse the group's id.
 */
const WATCHED = `
exec 3<&0 </dev/null 2>&1
{ trap "" TERM; read -r _ <&3; kill -TERM 0; sleep 1; kill -KILL 0; } >/dev/null 2>&1 4>&- &
exec 3<&-
exec "$@"`;

/** A line comes when the process is in its control group, and nothing when the server died before. */
const GATED = `
read -r _ || exit 1${WATCHED}`;

/** Time to clean up after SIGTERM. */
const GRACE_MS = 3_000;
/** A process that survives and holds the output open is not waited for. */
const OUTPUT_MS = 1_000;
/** Enough of the error output of a sandbox that cannot be set up. */
const MAX_COMPLAINT_BYTES = 2_000;

interface TreeOptions {
  readonly wrapped: Wrapped;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly user: User | undefined;
  /** Marks the processes of this tree. Unique, and no prefix of another mark. */
  readonly mark: string;
  /** The file descriptor 4 of the command: a file that it reads, or a pipe that it writes. */
  readonly channel?: number | 'pipe';
  /** Everything of this tree is in it. */
  readonly group?: ControlGroup | undefined;
  onOutput(bytes: Buffer): Promise<void>;
}

export interface TreeExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** Mark of the command's own processes. The processes that set up its sandbox have the plain mark. */
export function innerMarkOf(mark: string): string {
  return `${mark}in.`;
}

export class ProcessTree {
  readonly #child: ChildProcess;
  readonly #exit: Promise<TreeExit>;
  readonly #output: Promise<void>;
  readonly #admitted: Promise<void>;
  readonly #mark: string;
  readonly #token: Buffer | undefined;
  #init: Promise<Init | undefined> = Promise.resolve(undefined);
  #complaint = Buffer.alloc(0);
  #hasBegun: boolean;
  #isOver = false;

  constructor(options: TreeOptions) {
    const { wrapped, folder, environment, user, mark, channel, group, onOutput } = options;
    this.#mark = mark;
    this.#token = wrapped.token === undefined ? undefined : Buffer.from(wrapped.token);
    this.#hasBegun = this.#token === undefined;
    this.#child = start(group === undefined ? WATCHED : GATED, wrapped.argv, {
      cwd: folder,
      env: { ...environment, [MARK]: mark },
      stdio: ['pipe', 'pipe', 'ignore', ...(channel === undefined ? [] : (['ignore', channel] as const))],
      detached: true,
      ...user,
    });
    this.#child.stdin?.on('error', () => undefined);
    this.#exit = exitOf(this.#child);
    // The caller of `end` gets the failure.
    this.#exit.catch(() => undefined);
    this.#output = readAll(this.#child, (bytes) => this.#pass(bytes, onOutput));
    this.#output.catch(() => undefined);
    this.#admitted = group === undefined ? Promise.resolve() : this.#admit(group);
    this.#admitted.catch(() => undefined);
  }

  /** Resolves after the command has exited, its remaining processes are killed and its output is complete. */
  async end(): Promise<TreeExit> {
    try {
      await this.#admitted;
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

  // SPEC R99
  async #admit(group: ControlGroup): Promise<void> {
    if (this.#child.pid === undefined) return;
    try {
      await group.admit(this.#child.pid);
      this.#child.stdin?.write('\n');
    } catch (cause) {
      throw notStarted(cause);
    }
  }

  /** The bytes that the command writes to its file descriptor 4. */
  get written(): AsyncIterable<Buffer> {
    return this.#child.stdio[4] as Readable;
  }

  /** Output of the sandbox before the command started. Undefined once it has started. */
  get complaint(): string | undefined {
    return this.#hasBegun ? undefined : this.#complaint.toString().trim();
  }

  // SPEC R4
  stop(): void {
    if (this.#token === undefined) this.#kill('SIGTERM');
    // A signal to the process group would end the sandbox itself and kill everything in it at once.
    else void signalMarked(innerMarkOf(this.#mark), 'SIGTERM').catch(() => undefined);
    const timer = setTimeout(() => void this.#forceEnd(), GRACE_MS);
    this.#exit.finally(() => clearTimeout(timer)).catch(() => undefined);
  }

  /** The kernel ends the init of a sandbox last, so its exit means that every process in it is gone. */
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
    // The token may arrive in two chunks, so its length is kept in addition.
    this.#complaint = all.subarray(0, MAX_COMPLAINT_BYTES + token.length);
    if (at === -1) return;
    this.#hasBegun = true;
    if (this.#child.pid !== undefined) this.#init = findInit(this.#child.pid);
    const rest = all.subarray(at + token.length);
    if (rest.length > 0) await onOutput(rest);
  }

  #kill(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.#child.pid !== undefined && !this.#isOver) kill(-this.#child.pid, signal);
  }
}

function start(script: string, argv: readonly string[], options: SpawnOptions): ChildProcess {
  try {
    return spawn('/bin/sh', ['-c', script, 'sh', ...argv], options);
  } catch (cause) {
    // Some spawn errors are thrown, others are emitted.
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
    // The process is being ended, so the rest of its output is not needed.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

/** PID 1 of a sandbox, with its pid on the host. When it is gone, every process of the sandbox is gone. */
interface Init {
  readonly pid: number;
  readonly startedAt: string;
}

const LOOK_EVERY_MS = 2;
/** A process that waits for a disk may take long to die. */
const MAX_LOOKS = 5_000;

/** Searches the children of the process that made the sandbox. Undefined when the init is gone or was never started. */
async function findInit(parent: number): Promise<Init | undefined> {
  for (const pid of await childrenOf(parent)) {
    const status = readProc(pid, 'status') ?? '';
    const numbers = /^NSpid:\s*(.*)$/m.exec(status)?.[1]?.split(/\s+/) ?? [];
    const { startedAt } = readStat(pid);
    if (numbers.length > 1 && numbers.at(-1) === '1' && startedAt !== undefined) return { pid, startedAt };
  }
  return undefined;
}

/** Resolves when every process of the sandbox is gone: the kernel ends its init last. */
// SPEC R26
async function killInit({ pid, startedAt }: Init): Promise<void> {
  for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
    const now = readStat(pid);
    if (now.startedAt !== startedAt || now.state === 'Z' || now.state === 'X') return;
    if (looks === 0) kill(pid, 'SIGKILL');
    await pause(LOOK_EVERY_MS);
  }
}

async function childrenOf(parent: number): Promise<readonly number[]> {
  const told = readProc(parent, `task/${parent}/children`);
  if (told !== undefined) return told.trim().split(/\s+/).map(Number);
  // Not every kernel has that file.
  const children: number[] = [];
  await forEachProcess((pid) => {
    if (readStat(pid).parent === parent) children.push(pid);
  });
  return children;
}

// The command `sluice` in a process that is kept for the next command: for tests of answers, not of processes.
import { type ChildProcess, fork } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { runSluice } from './run-sluice.ts';

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string;
}

const MAIN = fileURLToPath(new URL('./kept-sluice-main.mjs', import.meta.url));
const waiting = new Map<number, { resolve(ran: Ran): void; reject(error: Error): void }>();
let kept: ChildProcess | undefined;
let lastId = 0;

/** A command that reads standard input gets a process of its own, because it reads to the end. */
export function sluice(args: readonly string[], { env = {}, cwd, input }: RunOptions = {}): Promise<Ran> {
  if (input === undefined) return runKept({ args, env, cwd: cwd ?? process.cwd() });
  const { ended, type } = runSluice(args, env, cwd);
  type(input, { isLast: true });
  return ended;
}

function runKept({ env, ...order }: Required<Omit<RunOptions, 'input'>> & { args: readonly string[] }): Promise<Ran> {
  lastId += 1;
  const id = lastId;
  kept ??= start();
  kept.ref();
  kept.channel?.ref();
  kept.send({ ...order, id, env: { PATH: process.env['PATH'], HOME: tmpdir(), ...env } });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

function start(): ChildProcess {
  const child = fork(MAIN, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  process.once('exit', () => child.kill('SIGKILL'));
  child.on('message', ({ id, ...ran }: Ran & { id: number }) => {
    waiting.get(id)?.resolve(ran);
    waiting.delete(id);
    if (waiting.size > 0) return;
    // Alone it keeps no test process from ending.
    child.unref();
    child.channel?.unref();
  });
  child.on('exit', (code, signal) => {
    kept = undefined;
    for (const { reject } of waiting.values()) reject(new Error(`the kept sluice ended: ${code ?? signal}`));
    waiting.clear();
  });
  return child;
}

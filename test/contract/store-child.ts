import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The tasks of a child; store-child-main.ts takes one on its command line. */
export type ChildTask = 'commit' | 'hold' | 'restore' | 'fill-disk' | 'backup' | 'backup-and-die';

export interface Child {
  readonly lines: AsyncIterable<string>;
  /** All lines, once it has ended. */
  read(): Promise<string[]>;
  kill(): void;
  /** The signal that ended it, or its exit code. */
  readonly ended: Promise<NodeJS.Signals | number | null>;
}

/** Its arguments are a task and what the task needs. */
export const STORE_CHILD = fileURLToPath(new URL('store-child-main.ts', import.meta.url));

/** Runs a store in a process of its own, which may be killed. `limit` is of file sizes, in KiB. */
export function startChild(task: ChildTask, args: readonly string[], limit?: number): Child {
  const command = [process.execPath, STORE_CHILD, task, ...args];
  const shell = ['sh', '-c', `ulimit -S -f ${limit === undefined ? 'unlimited' : limit * 2} && exec "$@"`, 'sh'];
  const [file = '', ...rest] = limit === undefined ? command : [...shell, ...command];
  const child = spawn(file, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  return {
    lines,
    read: async () => {
      const all: string[] = [];
      for await (const line of lines) all.push(line);
      return all;
    },
    kill: () => child.kill('SIGKILL'),
    ended: new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code))),
  };
}

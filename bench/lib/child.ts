import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A server in its own process that reports its CPU time. */
export interface Child {
  readonly url: string;
  readonly process: ChildProcess;
  cpuMicroseconds(): Promise<number>;
  /** Resident memory now and at its peak, in bytes. */
  memory(): { readonly now: number; readonly peak: number };
  /** Used heap after a garbage collection, in bytes. */
  usedBytes(): Promise<number>;
  stop(): Promise<void>;
}

/** The log is written to the open file `log`, or discarded. Temporary files go to the folder `temporary`. */
interface ChildPlaces {
  readonly log?: number;
  readonly temporary?: string;
}

export async function startChild(script: URL, input: unknown, { log, temporary }: ChildPlaces = {}): Promise<Child> {
  const child = fork(script, [JSON.stringify(input)], {
    stdio: ['ignore', 'ignore', log ?? 'ignore', 'ipc'],
    execArgv: ['--expose-gc'],
    env: { ...process.env, ...(temporary === undefined ? {} : { TMPDIR: temporary }) },
  });
  const { url } = (await nextMessage(child)) as { url: string };
  return {
    url,
    process: child,
    async cpuMicroseconds() {
      child.send('cpu');
      return ((await nextMessage(child)) as { cpu: number }).cpu;
    },
    memory: () => readMemory(child.pid as number),
    async usedBytes() {
      child.send('used');
      return ((await nextMessage(child)) as { used: number }).used;
    },
    async stop() {
      child.send('stop');
      await once(child, 'exit');
    },
  };
}

const COMMAND = fileURLToPath(new URL('../../bin/sluice.mjs', import.meta.url));

/** Starts the command as users do. With a log level, the log is shown. */
export async function serve(
  environment: Record<string, string>,
  command = COMMAND,
): Promise<Omit<Child, 'process' | 'cpuMicroseconds' | 'usedBytes'> & { readonly pid: number }> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...environment };
  const log = environment['SLUICE_LOG_LEVEL'] === undefined ? 'ignore' : 'inherit';
  const child = spawn(process.execPath, [command, 'serve'], { env, stdio: ['ignore', 'pipe', log] });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^Sluice listens on (\S+)/.exec(line)?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    return {
      url,
      pid: child.pid as number,
      memory: () => readMemory(child.pid as number),
      async stop() {
        child.kill('SIGTERM');
        await once(child, 'exit');
      },
    };
  }
  throw new Error('the server ended before it listened');
}

/** The side of the child: answers the requests above. */
export function serveParent(url: string, stop: () => Promise<void>): void {
  process.on('message', async (message) => {
    if (message === 'cpu') {
      const { user, system } = process.cpuUsage();
      process.send?.({ cpu: user + system });
    } else if (message === 'used') {
      for (let round = 0; round < 3; round += 1) globalThis.gc?.();
      const { heapUsed, external } = process.memoryUsage();
      process.send?.({ used: heapUsed + external });
    } else if (message === 'stop') {
      await stop();
      process.disconnect();
    }
  });
  // The parent is gone, so nothing would stop the child.
  process.on('disconnect', () => process.exit());
  process.send?.({ url });
}

function nextMessage(child: ChildProcess): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const fail = (): void => reject(new Error('the server ended before it answered'));
  child.once('exit', fail);
  child.once('message', (message) => {
    child.off('exit', fail);
    resolve(message);
  });
  return promise;
}

function readMemory(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (key: string): number => Number(new RegExp(`${key}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) * 1024;
  return { now: read('VmRSS'), peak: read('VmHWM') };
}

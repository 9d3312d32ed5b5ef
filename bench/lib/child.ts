import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A server in its own process that reports its CPU time. */
export interface Child {
  readonly url: string;
  readonly process: ChildProcess;
  /** With that of its children. */
  cpuMicroseconds(): Promise<number>;
  /** The largest peak of its children, in bytes: that of the ingest process. */
  ingestMemory(): number;
  /** Resident memory now and at its peak, in bytes. */
  memory(): { readonly now: number; readonly peak: number };
  /** Used heap after a garbage collection, in bytes. */
  usedBytes(): Promise<number>;
  stop(): Promise<void>;
}

export async function startChild(script: URL, input: unknown): Promise<Child> {
  const child = fork(script, [JSON.stringify(input)], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    execArgv: ['--expose-gc'],
  });
  const { url } = (await nextMessage(child)) as { url: string };
  return {
    url,
    process: child,
    cpuMicroseconds: async () => cpuSecondsOf(child.pid as number) * 1e6,
    memory: () => readMemory(child.pid as number),
    ingestMemory: () => childrenOf(child.pid as number).reduce((most, pid) => Math.max(most, readMemory(pid).peak), 0),
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
): Promise<Omit<Child, 'process' | 'cpuMicroseconds' | 'ingestMemory' | 'usedBytes'> & { readonly pid: number }> {
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
    if (message === 'used') {
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

/** Linux counts CPU time in hundredths of a second. */
const TICKS_A_SECOND = 100;

/** Of the process, of its children that ended, and of those that run. */
export function cpuSecondsOf(pid: number): number {
  return [pid, ...childrenOf(pid)].reduce((sum, each) => sum + ticksOf(each), 0) / TICKS_A_SECOND;
}

function ticksOf(pid: number): number {
  const fields =
    readProcess(pid, 'stat')
      ?.replace(/^.*\) /, '')
      .split(' ') ?? [];
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
}

export function childrenOf(pid: number): readonly number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    (readProcess(pid, `task/${task}/children`) ?? '').trim().split(' ').filter(Boolean).map(Number),
  );
}

/** Undefined for a process that ended meanwhile. */
export function readProcess(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

function readMemory(pid: number): { now: number; peak: number } {
  const status = readProcess(pid, 'status') ?? '';
  const read = (key: string): number => Number(new RegExp(`${key}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) * 1024;
  return { now: read('VmRSS'), peak: read('VmHWM') };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { endWithProcess } from '../helpers/children.ts';
import { lookUntil, pause } from './pause.ts';

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 30_000;
const MAX_LOG = 200_000;

/** One process of a server. */
export interface Life {
  readonly child: ChildProcess;
  readonly hasEnded: () => boolean;
  readonly exited: Promise<void>;
  /** Resolves to the start time in ms. Undefined if it died before it was ready. */
  readonly ready: Promise<number | undefined>;
  /** Undefined if it does not listen, or was asked to stop. */
  url(): string | undefined;
  /** It ended in another way than by SIGTERM, or is about to. */
  isKilled(): boolean;
  kill(): void;
}

/** The place of a server: its data folder stays while processes come and go. */
export interface Post {
  readonly name: string;
  readonly dataFolder: string;
  life(): Life | undefined;
  start(): Life;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Sends SIGTERM and returns the problem, if any. */
  stop(): Promise<string | undefined>;
  /** The end of the standard error of all processes. */
  log(): string;
}

export function createPost(of: {
  readonly name: string;
  readonly dataFolder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Arguments of Node that run the server; one start after another takes the next of them. */
  readonly commands: readonly (readonly string[])[];
}): Post {
  const { name, dataFolder, environment, commands } = of;
  let starts = 0;
  let current: Life | undefined;
  let log = '';
  const write = (text: string) => {
    log = (log + text).slice(-MAX_LOG);
  };
  return {
    name,
    dataFolder,
    life: () => current,
    start: () => {
      const command = commands[starts++ % commands.length] as readonly string[];
      current = startLife(command, { ...environment, SLUICE_DATA: dataFolder }, write);
      return current;
    },
    kill: async () => {
      current?.kill();
      await current?.exited;
    },
    stop: () => stopLife(current),
    log: () => log,
  };
}

function startLife(
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
  write: (text: string) => void,
): Life {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...command, 'serve'], {
    env: { PATH: process.env['PATH'], HOME: tmpdir(), SLUICE_LOG_LEVEL: 'warn', SLUICE_PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endWithProcess(child);
  let output = '';
  let isOver = false;
  let isKilled = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', write);
  // Not `close`: children of a killed server may hold its output open for a moment.
  const exited = new Promise<void>((resolve) =>
    child.once('exit', () => {
      isOver = true;
      resolve();
    }),
  );
  const hasEnded = () => isOver;
  const url = () => (isOver || child.killed ? undefined : /^Sluice listens on (\S+)$/m.exec(output)?.[1]);
  const kill = () => {
    isKilled = true;
    child.kill('SIGKILL');
  };
  const ready = untilReady({ hasEnded, url }, startedAt);
  return { child, exited, hasEnded, url, ready, kill, isKilled: () => isKilled };
}

async function untilReady(
  { hasEnded, url }: Pick<Life, 'hasEnded' | 'url'>,
  startedAt: number,
): Promise<number | undefined> {
  while (!hasEnded()) {
    const address = url();
    const answer = address === undefined ? undefined : await fetch(`${address}/readyz`).catch(() => undefined);
    if (answer?.status === 200) return performance.now() - startedAt;
    if (performance.now() - startedAt > START_TIMEOUT_MS) throw new Error('the server does not become ready');
    await pause(5);
  }
  return undefined;
}

async function stopLife(life: Life | undefined): Promise<string | undefined> {
  if (life === undefined || life.hasEnded()) return 'the server was not running when it was to be stopped';
  life.child.kill('SIGTERM');
  const times = { withinMs: STOP_TIMEOUT_MS, everyMs: 20 };
  if ((await lookUntil(times, () => life.hasEnded() || undefined)) === undefined) {
    life.child.kill('SIGKILL');
    return `the server did not stop within ${STOP_TIMEOUT_MS} ms`;
  }
  return life.child.exitCode === 0
    ? undefined
    : `the server ended with ${life.child.exitCode ?? life.child.signalCode}`;
}

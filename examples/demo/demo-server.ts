import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CliError, EXIT } from '../../src/cli/core/exit.ts';
import { shellWord } from '../../src/lib/text.ts';
import type { DemoFolder } from './demo-folder.ts';

/** `sluice serve` on the demo's folder, as a process of its own. */
export interface DemoServer {
  readonly url: string;
  readonly tokenFile: string;
  /** A connection breaks a moment before the exit of its process is reported, so this waits for that moment. */
  hasEndedNow(): Promise<boolean>;
  /** Waits until the server and all its children are gone; a server that was left running continues. */
  stop(): Promise<void>;
  /** Lets the server outlive this process, and writes down how to reach it. */
  leaveRunning(): Promise<void>;
}

const SLUICE = fileURLToPath(new URL('../../bin/sluice.mjs', import.meta.url));
const START_MS = 60_000;
/** A server stops within 10 s. */
const STOP_MS = 15_000;
const END_IS_TOLD_MS = 2_000;

export async function startDemoServer(folder: DemoFolder, signal: AbortSignal): Promise<DemoServer> {
  const secret = randomBytes(24).toString('base64url');
  const tokenFile = path.join(folder.data, 'admin-token');
  await mkdir(folder.data, { mode: 0o700 });
  await writeFile(tokenFile, `${secret}\n`, { mode: 0o600 });
  const child = await launch(folder, secret);
  // The last resort: the server ends with this process in any case.
  const kill = (): void => void child.kill('SIGTERM');
  process.once('exit', kill);
  let isLeftRunning = false;
  const stop = async (): Promise<void> => {
    if (!isLeftRunning) await stopChild(child);
    process.removeListener('exit', kill);
  };
  try {
    await writeFile(folder.pid, `${child.pid}\n`);
    const url = await untilListening(child, folder.log, signal);
    const leaveRunning = async (): Promise<void> => {
      await writeFile(folder.environment, `export SLUICE_URL=${url} SLUICE_DATA=${shellWord(folder.data)}\n`);
      process.removeListener('exit', kill);
      child.unref();
      isLeftRunning = true;
    };
    return { url, tokenFile, hasEndedNow: () => hasEndedNow(child), stop, leaveRunning };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function launch(folder: DemoFolder, secret: string): Promise<ChildProcess> {
  const log = await open(folder.log, 'w', 0o600);
  try {
    const child = spawn(process.execPath, [SLUICE, 'serve'], {
      cwd: folder.path,
      env: {
        ...withoutOurs(process.env),
        // Checks find the node that runs the demo, even if no other is installed.
        PATH: [path.dirname(process.execPath), process.env['PATH']].join(path.delimiter),
        SLUICE_HOST: '127.0.0.1',
        SLUICE_PORT: '0',
        SLUICE_DATA: folder.data,
        SLUICE_ADMIN_TOKEN: secret,
        SLUICE_LOG_LEVEL: 'warn',
        // The demo's checks wait more than they compute, so a small machine can run several at once.
        SLUICE_RUNNER_JOBS: '4',
        // The checks are Sluice's own. They share a file, and use a node that may be readable by this user only.
        SLUICE_RUNNER_PROTECTION: 'none',
        SLUICE_RUNNER_TRUST: 'all',
      },
      stdio: ['ignore', log.fd, log.fd],
    });
    // A process that could not be started has no id, and counts as ended.
    child.once('error', () => undefined);
    return child;
  } finally {
    await log.close();
  }
}

/** The user's own server may be configured by the same names. */
function withoutOurs(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('SLUICE_')));
}

async function untilListening(child: ChildProcess, log: string, signal: AbortSignal): Promise<string> {
  const deadline = performance.now() + START_MS;
  for (;;) {
    const text = await readFile(log, 'utf8');
    const url = /^Sluice listens on (\S+)$/m.exec(text)?.[1];
    if (url !== undefined) return url;
    if (hasEnded(child)) throw new CliError(EXIT.unavailable, `The server of the demo did not start:\n${text.trim()}`);
    if (performance.now() > deadline) throw new CliError(EXIT.unavailable, 'The server of the demo does not start.');
    await setTimeout(50, undefined, { signal });
  }
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = globalThis.setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(timer);
}

async function hasEndedNow(child: ChildProcess): Promise<boolean> {
  const given = new AbortController();
  const told = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  if (!hasEnded(child)) await Promise.race([told, setTimeout(END_IS_TOLD_MS, undefined, { signal: given.signal })]);
  given.abort();
  return hasEnded(child);
}

function hasEnded({ exitCode, signalCode, pid }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null || pid === undefined;
}

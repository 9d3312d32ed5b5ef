import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { findMarked, killMarked, MARK } from '../../lib/marked-processes.ts';
import { kill, readStat } from '../../lib/proc.ts';

/** A command with all processes that come from it: those that leave its process group are found on Linux alone. */
export interface CommandTree {
  /** The exit code as a shell would tell it. */
  readonly exit: Promise<number>;
  signal(signal: NodeJS.Signals): Promise<void>;
  /** Sends the signal, and SIGKILL to those that are left after the grace. Resolves when that is done. */
  end(graceMs: number, signal?: NodeJS.Signals): Promise<void>;
}

const LOOK_EVERY_MS = 50;
const hasGroups = process.platform !== 'win32';

export function startCommand([file = '', ...args]: readonly string[], say: (text: string) => void): CommandTree {
  // The mark of the runner of which this is a check stays its beginning: it finds these processes too.
  const mark = `${process.env[MARK] ?? ''}${randomUUID()}.`;
  const child = spawn(file, args, { stdio: 'inherit', detached: hasGroups, env: { ...process.env, [MARK]: mark } });
  const group = child.pid;
  const isRunning = () => group !== undefined && child.exitCode === null && child.signalCode === null;
  const exit = new Promise<number>((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      say(`sluice: ${file} cannot be run (${error.code}).`);
      resolve(error.code === 'ENOENT' ? 127 : 126);
    });
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
  // Each process gets a signal once: to some programs a second one means something else.
  const signal = async (sent: NodeJS.Signals): Promise<void> => {
    if (group === undefined) return;
    const others = (await findMarked(mark)).filter((pid) => readStat(pid).group !== group);
    kill(hasGroups ? -group : group, sent);
    for (const pid of others) kill(pid, sent);
  };
  const end = async (graceMs: number, sent: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
    await signal(sent);
    const deadline = performance.now() + graceMs;
    while (performance.now() < deadline && (isRunning() || (await findMarked(mark)).length > 0)) {
      await delay(LOOK_EVERY_MS);
    }
    await signal('SIGKILL');
    await killMarked(mark);
  };
  return { exit, signal, end };
}

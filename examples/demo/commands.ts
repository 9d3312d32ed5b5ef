import { spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CliError, EXIT } from '../../src/cli/core/exit.ts';
import { paint, write } from '../../src/cli/core/terminal.ts';
import type { DemoServer } from './demo-server.ts';

const SLUICE = fileURLToPath(new URL('../../bin/sluice.mjs', import.meta.url));
const PATIENCE_MS = 60_000;
const INTERVAL_MS = 100;

/** The server that commands of the demo speak to. */
export interface CommandPlace {
  readonly server: DemoServer;
  readonly dataFolder: string;
  readonly signal: AbortSignal;
}

/** Runs a command, and shows it with what it prints. */
export async function show(place: CommandPlace, ...args: readonly string[]): Promise<void> {
  await start(place, args).ended(EXIT.ok);
}

export interface Command {
  output(): string;
  /** Any exit code other than `expected` ends the demo. */
  ended(expected?: number): Promise<{ readonly code: number | null; readonly out: string }>;
  /** Returns when the command is gone; an ended one stays as it is. */
  stop(): Promise<void>;
}

export function start(place: CommandPlace, args: readonly string[], { isQuiet = false } = {}): Command {
  if (!isQuiet) write(`\n${paint('bold', `$ sluice ${args.join(' ')}`)}`);
  const { PATH } = process.env;
  const env = { PATH, SLUICE_DATA: place.dataFolder, SLUICE_URL: place.server.url };
  const child = spawn(process.execPath, [SLUICE, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PATIENCE_MS,
  });
  let out = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      if (!isQuiet) process.stdout.write(text);
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const kill = (): void => void child.kill();
  place.signal.addEventListener('abort', kill, { once: true });
  return {
    output: () => out,
    ended: async (expected) => {
      const code = await ended;
      place.signal.removeEventListener('abort', kill);
      place.signal.throwIfAborted();
      if (expected === undefined || code === expected) return { code, out };
      throw new CliError(EXIT.unavailable, `sluice ${args.join(' ')} ended with ${code}:\n${out}`);
    },
    stop: async () => {
      kill();
      await ended;
      place.signal.removeEventListener('abort', kill);
    },
  };
}

/** Polls until `look` finds a value, or patience ends. */
export async function until<Found>(
  signal: AbortSignal,
  look: () => Promise<Found | undefined> | Found | undefined,
): Promise<Found> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new CliError(EXIT.unavailable, 'The demo waits for something in vain.');
    await setTimeout(INTERVAL_MS, undefined, { signal });
  }
}

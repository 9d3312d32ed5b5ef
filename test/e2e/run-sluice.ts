// The command `sluice` as people and scripts run it: a child process.
import { spawn, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { collectOutput, endWithProcess } from '../helpers/children.ts';
import { SLUICE } from '../helpers/sluice-command.ts';

/** Part of util-linux: gives a command a terminal. */
const SCRIPT = 'script';
export const HAS_TERMINAL = spawnSync(SCRIPT, ['--version']).status === 0;

export interface Running {
  /** The output so far. */
  readonly output: { out: string; err: string };
  readonly ended: Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>;
  kill(signal: NodeJS.Signals): void;
  type(text: string, options?: { readonly isLast: boolean }): void;
}

export function runSluice(args: readonly string[], env: Readonly<Record<string, string>>, cwd?: string): Running {
  return start(process.execPath, [...SLUICE, ...args], env, cwd);
}

/** The same on a terminal of 100 columns and 40 lines; `out` has everything that it drew. */
export function runOnTerminal(args: readonly string[], env: Readonly<Record<string, string>>): Running {
  const command = [process.execPath, ...SLUICE, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  return start(SCRIPT, ['-qec', `stty rows 40 cols 100; exec ${command}`, '/dev/null'], { TERM: 'xterm', ...env });
}

function start(program: string, args: readonly string[], env: Readonly<Record<string, string>>, cwd?: string): Running {
  const child = spawn(program, args, { cwd, env: { PATH: process.env['PATH'], HOME: tmpdir(), ...env } });
  endWithProcess(child);
  const output = collectOutput(child);
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...output }));
  });
  const type: Running['type'] = (text, { isLast } = { isLast: false }) => {
    child.stdin.write(text);
    if (isLast) child.stdin.end();
  };
  return { output, ended, kill: (signal) => child.kill(signal), type };
}

import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const forwardedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs a program to its end and passes on the signals this process receives meanwhile.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 * @returns {Promise<{ code: number | null, signal: NodeJS.Signals | null, received: NodeJS.Signals | undefined }>}
 */
export function runChild(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', ...options });
    let received;
    const forward = (signal) => {
      received = signal;
      child.kill(signal);
    };
    for (const signal of forwardedSignals) process.on(signal, forward);
    const settle = (then) => {
      for (const signal of forwardedSignals) process.off(signal, forward);
      then();
    };
    child.on('error', (error) => settle(() => reject(error)));
    child.on('close', (code, signal) => settle(() => resolve({ code, signal, received })));
  });
}

/** The exit code a shell would report. */
export function exitCodeOf({ code, signal }) {
  return code ?? 128 + (constants.signals[signal] ?? 0);
}

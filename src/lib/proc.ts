import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** A scan of all processes lets others run after this long. */
const TURN_MS = 5;
/** An environment may be longer. */
const MAX_BYTES = 256 * 1024;

/** The kernel answers from memory: a file read at once takes a tenth of the CPU time of one that is waited for. */
const buffer = Buffer.allocUnsafeSlow(MAX_BYTES);

/** A file of a process in /proc. Undefined when the process is gone, belongs to another user, or on other systems. */
export function readProc(pid: number, file: string): string | undefined {
  try {
    const fd = openSync(`/proc/${pid}/${file}`, 'r');
    try {
      let length = 0;
      for (let read = -1; read !== 0; length += read) read = readSync(fd, buffer, length, MAX_BYTES - length, null);
      return buffer.toString('latin1', 0, length);
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

/** Calls `look` with every process of the machine. */
export async function forEachProcess(look: (pid: number) => void): Promise<void> {
  let begunAt = performance.now();
  for (const name of listNames()) {
    if (!/^\d+$/.test(name)) continue;
    look(Number(name));
    if (performance.now() - begunAt < TURN_MS) continue;
    await nextTurn();
    begunAt = performance.now();
  }
}

function listNames(): readonly string[] {
  try {
    return readdirSync('/proc');
  } catch {
    return [];
  }
}

/** A negative pid is a process group. One that is gone, or may not be signalled, stays as it is. */
export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The caller looks again.
  }
}

/** The second field may contain spaces and parentheses. A process that is gone has no state. */
export function readStat(pid: number) {
  const text = readProc(pid, 'stat');
  const fields = text === undefined ? [] : text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group] = fields;
  return { state, parent: Number(parent), group: Number(group), flags: Number(fields[6]), startedAt: fields[19] };
}

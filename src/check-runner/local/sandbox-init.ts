import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

/** PID 1 of a sandbox, with its pid on the host. When it is gone, every process of the sandbox is gone. */
export interface Init {
  readonly pid: number;
  /** Distinguishes it from a later process with the same pid. */
  readonly startedAt: string;
}

const LOOK_EVERY_MS = 2;
/** A process that waits for a disk may take long to die. */
const MAX_LOOKS = 5_000;

/** Searches the children of the process that made the sandbox. Undefined when the init is gone or was never started. */
export async function findInit(parent: number): Promise<Init | undefined> {
  for (const pid of await childrenOf(parent)) {
    const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
    const numbers = /^NSpid:\s*(.*)$/m.exec(status)?.[1]?.split(/\s+/) ?? [];
    const { startedAt } = await readStat(pid);
    if (numbers.length > 1 && numbers.at(-1) === '1' && startedAt !== undefined) return { pid, startedAt };
  }
  return undefined;
}

/** Resolves when every process of the sandbox is gone: the kernel ends its init last. */
// SPEC R26
export async function killInit({ pid, startedAt }: Init): Promise<void> {
  for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
    const now = await readStat(pid);
    if (now.startedAt !== startedAt || now.state === 'Z' || now.state === 'X') return;
    if (looks === 0) kill(pid);
    await pause(LOOK_EVERY_MS);
  }
}

async function childrenOf(parent: number): Promise<readonly number[]> {
  const told = await readFile(`/proc/${parent}/task/${parent}/children`, 'latin1').catch(() => undefined);
  if (told !== undefined) return told.trim().split(/\s+/).map(Number);
  // Not every kernel has that file.
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = await Promise.all(pids.map(async (pid) => (await readStat(pid)).parent));
  return pids.filter((_, index) => parents[index] === String(parent));
}

/**
 * The second field may contain spaces and parentheses. The third is the state, the fourth the parent, the 22nd the
 * start time.
 */
async function readStat(pid: number) {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0], parent: fields[1], startedAt: fields[19] };
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process is gone already.
  }
}

import { readdir, readFile } from 'node:fs/promises';

/**
 * Every process of a job has this in its environment, because children inherit it. It finds those that left their
 * process group, as daemons do. One that hides its environment on purpose is found by nobody but the kernel.
 */
export const MARK = 'SLUICE_JOB';

/** Rounds of looking: a process may have started another while it was looked at. */
const MAX_ROUNDS = 20;
const MAX_ENVIRONMENT_BYTES = 256 * 1024;

/** Kills every process whose mark begins with this. On systems without /proc there is nothing to look at. */
export async function killMarked(mark: string): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const pids = await findMarked(mark);
    if (pids.length === 0) return;
    for (const pid of pids) kill(pid);
    await new Promise((resolve) => setTimeout(resolve, round));
  }
}

export async function findMarked(mark: string): Promise<readonly number[]> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map(async (pid) => ((await hasMark(pid, mark)) ? [pid] : [])));
  return found.flat();
}

async function hasMark(pid: number, mark: string): Promise<boolean> {
  if (pid === process.pid) return false;
  // A process that is gone, a zombie and one of somebody else read as nothing.
  const bytes = await readFile(`/proc/${pid}/environ`).catch(() => undefined);
  if (bytes === undefined || bytes.length === 0) return false;
  const text = `\0${bytes.toString('latin1', 0, MAX_ENVIRONMENT_BYTES)}`;
  return text.includes(`\0${MARK}=${mark}`);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone already, or may not be touched; the next round tells.
  }
}

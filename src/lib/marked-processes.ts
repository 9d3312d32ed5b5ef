import { forEachProcess, kill, readProc, readStat } from './proc.ts';

/** Children inherit it, also daemons that left the process group. A process that hides its environment is not found. */
export const MARK = 'SLUICE_JOB';

/** A process may start another during the scan, so the scan is repeated. */
const MAX_ROUNDS = 20;
/** A process in the middle of `exec` shows no environment. This is long enough even on a busy machine. */
const BLANK_MS = 30;
/** PF_KTHREAD: the process is a kernel thread. */
const KERNEL_FLAG = 0x200000;

/** Kills every process whose mark begins with this. Does nothing on systems without /proc. */
export async function killMarked(mark: string): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { marked, blank } = await look(mark);
    const isSure = areBlankForGood(blank);
    if (marked.length === 0 && isSure) return;
    for (const pid of marked) kill(pid, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, round));
  }
}

/** Sends a signal to every process whose mark begins with this. */
export async function signalMarked(mark: string, signal: NodeJS.Signals): Promise<void> {
  for (const pid of await findMarked(mark)) kill(pid, signal);
}

export async function findMarked(mark: string): Promise<readonly number[]> {
  return (await look(mark)).marked;
}

interface Process {
  readonly pid: number;
  readonly environment: string | undefined;
}

/** Many checks end at once when a server stops. Callers during a scan share the next one. */
let underWay: Promise<readonly Process[]> | undefined;
let next: Promise<readonly Process[]> | undefined;

function listProcesses(): Promise<readonly Process[]> {
  if (underWay === undefined) {
    underWay = readProcesses().finally(() => {
      underWay = undefined;
    });
    return underWay;
  }
  next ??= underWay.then(() => {
    next = undefined;
    return listProcesses();
  });
  return next;
}

async function readProcesses(): Promise<readonly Process[]> {
  const processes: Process[] = [];
  await forEachProcess((pid) => processes.push({ pid, environment: readEnvironment(pid) }));
  return processes;
}

/** The processes with this mark, and those without any environment. */
async function look(mark: string) {
  const all = await listProcesses();
  const marked = all.filter(({ environment }) => environment?.includes(`\0${MARK}=${mark}`));
  const blank = all.filter(({ environment }) => environment === '\0');
  return { marked: marked.map(({ pid }) => pid), blank: blank.map(({ pid }) => pid) };
}

/** Undefined when the process is gone, belongs to another user, or is this one. */
function readEnvironment(pid: number): string | undefined {
  const text = pid === process.pid ? undefined : readProc(pid, 'environ');
  return text === undefined ? undefined : `\0${text}`;
}

/** When each process was first seen without an environment. Most never have one, and are waited for only once. */
const blankSince = new Map<number, number>();

function areBlankForGood(blank: readonly number[]): boolean {
  const now = performance.now();
  const present = new Set(blank);
  for (const pid of blankSince.keys()) if (!present.has(pid)) blankSince.delete(pid);
  for (const pid of blank) {
    if (!blankSince.has(pid)) blankSince.set(pid, isProgram(pid) ? now : Number.NEGATIVE_INFINITY);
  }
  return blank.every((pid) => now - (blankSince.get(pid) ?? now) >= BLANK_MS);
}

/** Excludes kernel threads and zombies. */
function isProgram(pid: number): boolean {
  const { state, flags } = readStat(pid);
  return state !== undefined && state !== 'Z' && state !== 'X' && (flags & KERNEL_FLAG) === 0;
}

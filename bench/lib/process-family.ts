import { readdirSync, readFileSync } from 'node:fs';

const MICROSECONDS_A_TICK = 10_000;

/** The main process of the test PostgreSQL that this URL leads to. */
export function postmasterOf(url: string): number {
  const folder = new URL(url).searchParams.get('host');
  return Number(readFileSync(`${folder}/data/postmaster.pid`, 'utf8').split('\n')[0]);
}

/** CPU time of a process and its children, ended ones included. */
export function familyCpuMicroseconds(root: number): number {
  let ticks = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = readStat(Number(name));
    if (stat === undefined) continue;
    if (stat.pid === root) ticks += stat.ticks + stat.ticksOfEnded;
    else if (stat.parent === root) ticks += stat.ticks;
  }
  return ticks * MICROSECONDS_A_TICK;
}

function readStat(pid: number) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [parent, user, system, endedUser, endedSystem] = [1, 11, 12, 13, 14].map((at) => fields[at] ?? 0) as [
      number,
      number,
      number,
      number,
      number,
    ];
    return { pid, parent, ticks: user + system, ticksOfEnded: endedUser + endedSystem };
  } catch {
    // It ended meanwhile.
    return undefined;
  }
}

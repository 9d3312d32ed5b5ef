import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { assert } from '../../lib/assert.ts';
import { forEachProcess, readProc } from '../../lib/proc.ts';

/** A uid and gid for one command, without an account. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

export interface UidRange {
  readonly first: number;
  readonly last: number;
}

const execute = promisify(execFile);
/** System accounts have lower uids. */
const LEAST_UID = 1_000;
/** About ten seconds in all. A process that is left then hangs in the kernel. */
const MAX_ROUNDS = 45;
const ROUND_MS = 10;

/** Processes with this real, effective, saved or file system uid. Zombies do not count. */
export async function findProcessesOf(uid: number): Promise<readonly number[]> {
  const found: number[] = [];
  await forEachProcess((pid) => {
    const status = readProc(pid, 'status') ?? '';
    const uids = /^Uid:(.*)$/m.exec(status)?.[1]?.trim().split(/\s+/) ?? [];
    if (uids.includes(String(uid)) && !/^State:\s[ZX]/m.test(status)) found.push(pid);
  });
  return found;
}

/** True if all are gone. The kernel signals all processes of a user at once, so none escapes by forking. */
export async function killProcessesOf({ uid, gid }: User): Promise<boolean> {
  // Root would signal every process of the machine.
  assert(uid >= LEAST_UID && uid !== process.getuid?.(), 'processes of a user of checks are ended, and nobody else');
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    if ((await findProcessesOf(uid)).length === 0) return true;
    // A shell of a concurrent call may kill this one.
    await execute('/bin/sh', ['-c', 'kill -KILL -1'], { uid, gid, cwd: '/', env: {} }).catch(() => undefined);
    await pause(round * ROUND_MS);
  }
  return false;
}

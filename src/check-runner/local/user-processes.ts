import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { assert } from '../../lib/assert.ts';
import type { User } from './user.ts';

const execute = promisify(execFile);
/** Accounts below are those of the system. */
const LEAST_UID = 1_000;
/** About ten seconds in all: what is left then hangs in the kernel. */
const MAX_ROUNDS = 45;
const ROUND_MS = 10;

/** Processes with this user as their real, effective, saved or file system one. One that has ended is none. */
export async function findProcessesOf(uid: number): Promise<readonly number[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    names.map(async (name) => {
      const status = await readFile(`/proc/${name}/status`, 'latin1').catch(() => '');
      const uids = /^Uid:(.*)$/m.exec(status)?.[1]?.trim().split(/\s+/) ?? [];
      return uids.includes(String(uid)) && !/^State:\s[ZX]/m.test(status) ? [Number(name)] : [];
    }),
  );
  return found.flat();
}

/**
 * Answers whether all are gone. The kernel signals all processes of a user in one go, so that none escapes by starting
 * another; that is done by a process of that user, who can signal nobody else.
 */
export async function killProcessesOf({ uid, gid }: User): Promise<boolean> {
  // As root it would be every process of the machine.
  assert(uid >= LEAST_UID && uid !== process.getuid?.(), 'processes of a user of checks are ended, and nobody else');
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    if ((await findProcessesOf(uid)).length === 0) return true;
    // The shell that signals may itself be signalled by another that does the same.
    await execute('/bin/sh', ['-c', 'kill -KILL -1'], { uid, gid, cwd: '/', env: {} }).catch(() => undefined);
    await pause(round * ROUND_MS);
  }
  return false;
}

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Fault } from '../../lib/fault.ts';

/** Whom commands run as. */
export interface User {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export async function findUser(name: string): Promise<User> {
  if (process.getuid?.() !== 0) {
    const hint = 'Start the server as root, or leave SLUICE_RUNNER_USER unset.';
    throw new Fault('MISCONFIGURED', `Only root can run checks as the user ${name}. ${hint}`);
  }
  const [uid, gid] = await Promise.all([askId('-u', name), askId('-g', name)]);
  if (uid === 0) throw new Fault('MISCONFIGURED', `SLUICE_RUNNER_USER is ${name}, who may do everything.`);
  return { name, uid, gid };
}

async function askId(option: string, name: string): Promise<number> {
  try {
    const { stdout } = await promisify(execFile)('id', [option, '--', name]);
    return Number(stdout.trim());
  } catch (cause) {
    throw new Fault('MISCONFIGURED', `SLUICE_RUNNER_USER is ${name}, and this machine has no such user.`, {
      cause,
    });
  }
}

import { execFile } from 'node:child_process';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Fault } from '../../lib/fault.ts';
import { succeeds } from '../../lib/succeeds.ts';
import { findProcessesOf, killProcessesOf, type UidRange, type User } from './user.ts';
import { removeFolder } from './work-folder.ts';

/** World-writable folders. The next check of the same user must not find files of an earlier one there. */
const SHARED_FOLDERS = ['/tmp', '/var/tmp', '/dev/shm'];

/** Whether uids have accounts. A lookup takes longer than everything else here. */
const accounts = new Map<number, Promise<boolean>>();

/** Users from a uid range that belongs to Sluice alone. */
// SPEC R40
export class UserPool {
  readonly #range: UidRange;
  readonly #group: number | undefined;
  /** Users held by this server. The lock excludes other servers on this machine. */
  readonly #locks = new Map<number, Server>();
  #next: number;

  /** With one group, checks share folders that the operator opens to it. Without, none can reach files of another. */
  constructor(range: UidRange, { sharesGroup }: { readonly sharesGroup: boolean }) {
    this.#range = range;
    this.#group = sharesGroup ? range.first : undefined;
    this.#next = range.first;
  }

  get size(): number {
    return this.#range.last - this.#range.first + 1;
  }

  async take(): Promise<User> {
    for (let tried = 0; tried < this.size; tried += 1) {
      const uid = this.#next;
      this.#next = uid === this.#range.last ? this.#range.first : uid + 1;
      if (await this.#lock(uid)) return { uid, gid: this.#group ?? uid };
    }
    const { first, last } = this.#range;
    const hint = 'SLUICE_RUNNER_UIDS names another range.';
    throw new Fault('RUNNER_UNAVAILABLE', `Every user from ${first} to ${last} is in use on this machine. ${hint}`);
  }

  /** Kills every process of the user. Only then are its files safe to walk, and the user safe to return. */
  // SPEC R42
  async clear(user: User): Promise<void> {
    if (await killProcessesOf(user)) return;
    throw new Fault('RUNNER_UNAVAILABLE', `Processes of a check do not end; they are of the user ${user.uid}.`);
  }

  /** A user that was not cleared stays locked until the server exits. */
  async giveBack(user: User): Promise<void> {
    await removeStrays(user);
    const lock = this.#locks.get(user.uid);
    this.#locks.delete(user.uid);
    lock?.close();
  }

  async #lock(uid: number): Promise<boolean> {
    if (this.#locks.has(uid)) return false;
    const account = accounts.get(uid) ?? hasAccount(uid);
    accounts.set(uid, account);
    if (await account) return false;
    const lock = await listenAlone(`\0sluice-runner-uid-${uid}`);
    if (lock === undefined) return false;
    if ((await findProcessesOf(uid)).length > 0) {
      lock.close();
      return false;
    }
    this.#locks.set(uid, lock);
    return true;
  }
}

async function hasAccount(uid: number): Promise<boolean> {
  const [users, groups] = await Promise.all(['/etc/passwd', '/etc/group'].map((file) => readFile(file, 'utf8')));
  const isNamed = (text = '') => text.split('\n').some((line) => line.split(':')[2] === String(uid));
  if (isNamed(users) || isNamed(groups)) return true;
  // Accounts of a directory service are in no file.
  return succeeds(promisify(execFile)('getent', ['passwd', String(uid)]));
}

/** An abstract socket has one owner on a machine, and vanishes with its process. */
function listenAlone(path: string): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', () => resolve(undefined));
    server.listen(path, () => resolve(server.unref()));
  });
}

async function removeStrays({ uid }: User): Promise<void> {
  for (const folder of SHARED_FOLDERS) {
    for (const name of await readdir(folder).catch(() => [])) {
      const path = join(folder, name);
      const stats = await lstat(path).catch(() => undefined);
      if (stats?.uid === uid) await removeFolder(path).catch(() => undefined);
    }
  }
}

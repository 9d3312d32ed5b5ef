import { readdirSync, type Stats, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** Git renames a file into place whenever it writes a ref, and that changes the time of the folder. */
export interface RefTimes {
  /** A number that stays the same while no ref changes. Undefined: only git can tell. */
  findVersion(): Promise<number | undefined>;
}

/** Times of file systems are coarse: a second change within this time may not show. */
const UNSURE_MS = 2_000;
/** A file that somebody wrote in place, without git, is noticed after this time. */
const TRUSTED_MS = 10 * 60_000;
/** A repository without a change for this long is quiet. Each of its pull requests has a folder, so they are looked at less often. */
const QUIET_MS = 30_000;
const REST_MS = 6_000;

/** ext, XFS, Btrfs, tmpfs, overlay, ZFS, F2FS, bcachefs: exact times, at once. A network that hangs would stop us. */
const LOCAL_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010, 0xca451a4e,
]);

export function watchRefTimes(gitDir: string, readClock: () => number = Date.now): RefTimes {
  const pulls = join(gitDir, 'refs', 'pull', sep);
  const objects = join(gitDir, 'objects');
  let isLocal: Promise<boolean> | undefined;
  let times: ReadonlyMap<string, number> = new Map();
  let version = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  let changedAt = Number.NEGATIVE_INFINITY;
  let seenAllAt = Number.NEGATIVE_INFINITY;
  /** A poll asks for the pull requests and for each branch at the same time. A moment later the answer is too old. */
  let asked: Promise<number | undefined> | undefined;

  function find(): number | undefined {
    const now = readClock();
    const isNew = times.size === 0;
    const isResting = !isNew && now - seenAllAt < REST_MS && isQuiet(now);
    if (!isResting) seenAllAt = now;
    const isSame = [...times].every(([path, time]) => (isResting && path.startsWith(pulls)) || timeOf(path) === time);
    if (isNew || !isSame) changedAt = now;
    if (!isSame || now - readAt >= TRUSTED_MS) {
      times = readTimes(gitDir);
      version += 1;
      readAt = now;
    }
    return Math.max(...times.values()) < now - UNSURE_MS ? version : undefined;
  }

  /** A push brings objects before it moves a ref. */
  function isQuiet(now: number): boolean {
    return now - changedAt > QUIET_MS && timeOf(objects) < now - QUIET_MS;
  }

  async function ask(): Promise<number | undefined> {
    isLocal ??= isOnLocalDisk(gitDir);
    if (!(await isLocal)) return undefined;
    try {
      return find();
    } catch {
      // A folder that is gone or may not be read. Git says what is wrong.
      times = new Map();
      readAt = Number.NEGATIVE_INFINITY;
      return undefined;
    }
  }

  return {
    findVersion() {
      asked ??= ask().finally(() => {
        asked = undefined;
      });
      return asked;
    },
  };
}

async function isOnLocalDisk(folder: string): Promise<boolean> {
  const system = await statfs(folder).catch(() => undefined);
  return system !== undefined && LOCAL_FILE_SYSTEMS.has(system.type);
}

/** All that changes with a ref: folders of loose refs, the file of packed ones, and the tables of the newer format. */
function readTimes(gitDir: string): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  const add = (folder: string) => {
    // Before its contents: a ref that is written meanwhile makes it differ at the next look.
    times.set(folder, timeOf(folder));
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) add(join(folder, entry.name));
    }
  };
  add(join(gitDir, 'refs'));
  for (const name of ['.', 'packed-refs', 'reftable']) times.set(join(gitDir, name), timeOf(join(gitDir, name)));
  return times;
}

/** The time of the last change, which nobody can set back; zero for a file that does not exist. */
function timeOf(path: string): number {
  const stats: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  return stats?.ctimeMs ?? 0;
}

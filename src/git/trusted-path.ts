import type { Stats } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The limit of Linux. */
const MAX_LINKS = 40;
const OTHERS_WRITE = 0o022;
const STICKY = 0o1000;

/** Reads each file once, however many paths lead through it. */
export class TrustedPaths {
  readonly #owner: number;
  readonly #seen = new Map<string, Promise<Stats | undefined>>();

  /** Trusts this user and root. */
  constructor(owner: number) {
    this.#owner = owner;
  }

  /**
   * A sentence why another user could change the file at an absolute path: by owning or writing the file, a folder
   * above it, or a link on the way. Undefined when no other user can, or when the path is missing and no other user can
   * create it.
   */
  async findProblem(path: string): Promise<string | undefined> {
    const rest = partsOf(path);
    let folder = '/';
    for (let links = 0; rest.length > 0; ) {
      const part = rest.shift() as string;
      if (part === '..') {
        folder = dirname(folder);
        continue;
      }
      const next = join(folder, part);
      const stats = await this.#look(next);
      if (stats === undefined) return (await this.#isWritable(folder)) ? creatable(next) : undefined;
      if (!this.#isOurs(stats)) return `${next} belongs to another user (id ${stats.uid})`;
      if (stats.isSymbolicLink()) {
        links += 1;
        if (links > MAX_LINKS) return `${path} leads through too many symbolic links`;
        const target = await readlink(next);
        if (target.startsWith('/')) folder = '/';
        rest.unshift(...partsOf(target));
        continue;
      }
      // In a sticky folder other users can add files, but not rename or remove those of others.
      const isPassedThrough = rest.length > 0 && (stats.mode & STICKY) !== 0;
      if ((stats.mode & OTHERS_WRITE) !== 0 && !isPassedThrough) return writable(next);
      folder = next;
    }
    return undefined;
  }

  async #isWritable(folder: string): Promise<boolean> {
    const stats = await this.#look(folder);
    return stats === undefined || (stats.mode & OTHERS_WRITE) !== 0;
  }

  #isOurs({ uid }: Stats): boolean {
    return uid === this.#owner || uid === 0;
  }

  /** Undefined when the file does not exist. */
  #look(path: string): Promise<Stats | undefined> {
    const known = this.#seen.get(path) ?? lstat(path).catch(nothingThere);
    this.#seen.set(path, known);
    return known;
  }
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

function writable(path: string): string {
  return `${path} can be written by other users (chmod go-w ${path})`;
}

function creatable(path: string): string {
  return `${path} does not exist, and other users can create it`;
}

function nothingThere(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
}

import type { Dirent } from 'node:fs';
import { opendir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Glob } from './glob.ts';
import { matchesPath, mayMatchIn, type PathPattern } from './path-pattern.ts';

export interface FileSearch {
  readonly root: string;
  readonly globs: readonly Glob[];
  /** Whether folders behind links are searched too, each once. */
  readonly followsLinks: boolean;
  /** Whether to leave out a folder, by its path within the root. */
  skips(folder: readonly string[]): boolean;
  /** Asked now and then. True ends the search. */
  isOver?(seen: number): boolean;
}

/** A few milliseconds of matching. */
const STEPS_AT_ONCE = 30_000;
const ENTRIES_AT_ONCE = 256;

/** Finds the files that a glob matches, as paths within the root, in no order. Folders that none can match are left out. */
// SPEC R49
export async function* findFiles(search: FileSearch): AsyncGenerator<string> {
  const { root, skips, isOver = () => false } = search;
  const matcher = new Matcher(search.globs);
  const entered = new Set(search.followsLinks ? [await realpath(root).catch(() => root)] : []);
  let seen = 0;
  const folders: (readonly string[])[] = [[]];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for await (const entry of entriesOf(join(root, ...folder))) {
      seen += 1;
      if (isOver(seen)) return;
      const path = [...folder, entry.name];
      const isLink = search.followsLinks && entry.isSymbolicLink();
      const isFolder = isLink ? await isNewFolder(join(root, ...path), entered) : entry.isDirectory();
      if ((isFolder && skips(path)) || !(await matcher.someMatch(path, isFolder))) continue;
      if (isFolder) folders.push(path);
      else yield path.join('/');
    }
  }
}

/** A folder may be closed, or go while it is read. */
async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  const found = await opendir(folder, { bufferSize: ENTRIES_AT_ONCE }).catch(() => undefined);
  try {
    if (found !== undefined) yield* found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  }
}

/** Whether a link leads to a folder that no link led to before: links may form a circle. */
async function isNewFolder(link: string, entered: Set<string>): Promise<boolean> {
  if ((await stat(link).catch(() => undefined))?.isDirectory() !== true) return false;
  const target = await realpath(link);
  const isNew = !entered.has(target);
  entered.add(target);
  return isNew;
}

/** Lets others work between patterns: hostile ones on long paths would block the process for seconds. */
class Matcher {
  readonly #patterns: readonly PathPattern[];
  readonly #steps = { count: 0 };
  #pauseAt = STEPS_AT_ONCE;

  constructor(globs: readonly Glob[]) {
    this.#patterns = globs.flatMap(({ patterns }) => patterns);
  }

  async someMatch(path: readonly string[], isFolder: boolean): Promise<boolean> {
    const test = isFolder ? mayMatchIn : matchesPath;
    for (const pattern of this.#patterns) {
      if (test(pattern, path, this.#steps)) return true;
      if (this.#steps.count < this.#pauseAt) continue;
      await yieldToOthers();
      this.#pauseAt = this.#steps.count + STEPS_AT_ONCE;
    }
    return false;
  }
}

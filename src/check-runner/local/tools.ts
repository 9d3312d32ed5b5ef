import { createHash } from 'node:crypto';
import { constants, createReadStream, statSync } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { BoundedCache } from '../../lib/bounded-cache.ts';

export interface Tool {
  readonly name: string;
  /** The file that a command of this name starts, links followed. Undefined: there is none. */
  readonly path: string | undefined;
}

export interface ToolFinder {
  /** PATH of commands. */
  readonly path: string;
  find(names: readonly string[]): Promise<readonly Tool[]>;
  /** A sentence on how commands find a program that one did not find. */
  // SPEC R65, R90
  explain(name: string | undefined): Promise<string>;
}

interface Surroundings {
  /** PATH of the server. */
  readonly path: string;
  /** Folders that the operator named. */
  readonly tools: readonly string[];
  /** Whether commands may find what is at this path. */
  canRead(path: string): boolean;
}

/** Programs by their names, as commands find them: a sandbox may hide folders of PATH. */
export function createToolFinder({ path, tools, canRead }: Surroundings): ToolFinder {
  const folders = [...path.split(delimiter), ...tools.flatMap((folder) => [folder, join(folder, 'bin')])];
  const isSeen = (file: string, folder: string) => canRead(folder) && canRead(file);
  return {
    path: [...new Set(folders)].join(delimiter),
    find: (names) =>
      Promise.all(names.map(async (name) => ({ name, path: (await findTool(name, folders, isSeen))?.file }))),
    explain: async (name) => {
      const hidden = name === undefined ? undefined : await findTool(name, folders, () => true);
      if (hidden !== undefined && !isSeen(hidden.file, hidden.folder))
        return `${name} is in ${canRead(hidden.folder) ? dirname(hidden.file) : hidden.folder}, which checks cannot read: install it where every user can read it, such as in /usr/local/bin.`;
      const seen = [...new Set(folders)].filter((folder) => canRead(folder) && isFolder(folder)).join(', ');
      return `Checks find programs in ${seen}: install it there, or name its folder in SLUICE_RUNNER_TOOLS.`;
    },
  };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

async function findTool(
  name: string,
  folders: readonly string[],
  isSeen: (file: string, folder: string) => boolean,
): Promise<{ readonly file: string; readonly folder: string } | undefined> {
  for (const folder of folders) {
    const file = await realpath(join(folder, name)).catch(() => undefined);
    if (file === undefined || !isSeen(file, folder) || !(await stat(file)).isFile()) continue;
    const isProgram = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isProgram) return { file, folder };
  }
  return undefined;
}

/** By path, size and time: a tool of a hundred megabytes is read once. */
const digests = new BoundedCache<string, string>(1_000);

export async function digestStream(stream: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const bytes of stream) hash.update(bytes);
  return hash.digest('hex');
}

export async function digestTool(file: string): Promise<string> {
  const { size, mtimeNs, ino } = await stat(file, { bigint: true });
  const state = `${file} ${ino} ${size} ${mtimeNs}`;
  const digest = digests.find(state) ?? (await digestStream(createReadStream(file)));
  digests.set(state, digest);
  return digest;
}

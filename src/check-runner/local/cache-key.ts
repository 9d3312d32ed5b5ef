import { hash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { findFiles } from '../../lib/find-files.ts';
import { parseGlob } from '../../lib/glob.ts';
import type { JobCache } from '../runner.ts';
import type { CacheName } from './cache-folder.ts';
import { digestStream, digestTool, type Tool } from './tools.ts';

/** They bound the search for the files of a key. */
const MAX_SEEN = 1_000_000;
const MAX_KEY_FILES = 1_000;
const SCOPE_LENGTH = 16;
const KEY_LENGTH = 32;

export interface Keyed {
  readonly name: CacheName;
  /** The cache's paths by the folder in which the command finds them. */
  readonly paths: readonly SandboxPath[];
}

/** A path below `home` or `tree`, the folders of a command. */
export interface SandboxPath {
  readonly root: 'home' | 'tree';
  readonly path: string;
}

function placePath(path: string): SandboxPath {
  return path.startsWith('~/') ? { root: 'home', path: path.slice(2) } : { root: 'tree', path };
}

/** The name of the cache that belongs to the commit in the folder, or a sentence why it has none. */
// SPEC R80
export async function findKey(cache: JobCache, folder: string, tools: readonly Tool[]): Promise<Keyed | string> {
  const paths = cache.paths.map(placePath);
  const taken = await findTaken(folder, paths);
  if (taken !== undefined) return `the commit has ${taken} itself`;
  const files = await digestFiles(folder, cache.key);
  if (typeof files === 'string') return files;
  const programs = await Promise.all(
    tools.map(async ({ name, path = '' }) => [name, path === '' ? '' : await digestTool(path)]),
  );
  const { repository, branch, check, inputs } = cache;
  const scope = digest([branch, check, cache.paths, process.platform, process.arch, await readSystem()]);
  const key = digest([files, programs, inputs]).slice(0, KEY_LENGTH);
  return {
    name: { repository, scope: scope.slice(0, SCOPE_LENGTH), key: `${scope.slice(0, SCOPE_LENGTH)}-${key}` },
    paths,
  };
}

function digest(value: unknown): string {
  return hash('sha256', JSON.stringify(value));
}

/** A new release of the system has other libraries. */
let system: Promise<string> | undefined;
function readSystem(): Promise<string> {
  system ??= readFile('/etc/os-release', 'utf8').catch(() => '');
  return system;
}

/** A path that the commit has, or that leads through a link of it. Nothing of a commit is ever removed or stored. */
// SPEC R84
async function findTaken(folder: string, paths: readonly SandboxPath[]): Promise<string | undefined> {
  for (const { root, path } of paths) {
    if (root === 'home') continue;
    const parts = path.split('/');
    for (let length = 1; length <= parts.length; length += 1) {
      const stats = await lstat(join(folder, ...parts.slice(0, length))).catch(() => undefined);
      if (stats === undefined) break;
      if (length === parts.length || !stats.isDirectory()) return path;
    }
  }
  return undefined;
}

async function digestFiles(folder: string, key: JobCache['key']): Promise<readonly unknown[] | string> {
  const globs = key.map(parseGlob).filter((glob) => typeof glob !== 'string');
  const skips = (path: readonly string[]) => path.length === 1 && path[0] === '.git';
  const names: string[] = [];
  let isCutOff = false;
  const isOver = (seen: number) => {
    isCutOff = seen > MAX_SEEN || names.length > MAX_KEY_FILES;
    return isCutOff;
  };
  for await (const name of findFiles({ root: folder, globs, followsLinks: false, skips, isOver })) names.push(name);
  if (names.length === 0) return `the commit has no ${key.join(', ')}`;
  if (isCutOff) return `too many files were searched for ${key.join(', ')}`;
  const read = names.toSorted().map(async (name) => [name, await digestRegular(join(folder, name))]);
  return Promise.all(read);
}

/** A link of the commit may name any file of the server. */
async function digestRegular(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  );
  if (file === undefined) return `link to ${await readlink(path).catch(() => '')}`;
  try {
    return (await file.stat()).isFile() ? await digestStream(file.createReadStream({ autoClose: false })) : '';
  } finally {
    await file.close();
  }
}

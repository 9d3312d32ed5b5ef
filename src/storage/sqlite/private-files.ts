import { accessSync, chmodSync, closeSync, constants, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { codeOf } from './errors.ts';

/** What Sluice stores holds hashes of tokens and the signing key: it is its owner's alone, whatever the umask. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * Folders that are there already keep their mode. One `mkdir` for each missing one: Node's recursive one never ends
 * where the kernel says ENOENT for a folder whose parent exists, as /proc does.
 */
export function ensurePrivateFolder(folder: string): void {
  const missing: string[] = [];
  for (let path = resolve(folder); !existsSync(path); path = dirname(path)) missing.push(path);
  for (const path of missing.toReversed()) makeFolder(path);
  if (!statSync(folder).isDirectory()) throw Object.assign(new Error(`${folder} is a file`), { code: 'ENOTDIR' });
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: FOLDER_MODE });
    chmodSync(path, FOLDER_MODE);
  } catch (error) {
    // Made by someone else meanwhile.
    if (codeOf(error) !== 'EEXIST' || !existsSync(path)) throw error;
  }
}

/** Throws what the operating system says where the file cannot be read and written. */
export function ensurePrivateFile(file: string): void {
  try {
    createPrivateFile(file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    closeToOthers(file);
    // Not by opening it: closing it again would drop every lock that this process holds on the file.
    accessSync(file, constants.R_OK | constants.W_OK);
  }
}

/** An empty file, which SQLite takes for a new database; its log gets the same mode from SQLite. */
export function createPrivateFile(file: string): void {
  closeSync(openSync(file, 'wx', FILE_MODE));
  closeToOthers(file);
}

export function closeToOthers(file: string): void {
  try {
    if ((statSync(file).mode & 0o777) !== FILE_MODE) chmodSync(file, FILE_MODE);
  } catch (error) {
    // Another's file, or a file system without modes: whoever set it up has decided.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EROFS'].includes(codeOf(error))) throw error;
  }
}

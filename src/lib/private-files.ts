import { accessSync, chmodSync, closeSync, constants, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { codeOf } from './file-error.ts';

/** The store holds hashes of tokens and the signing key, so only its owner may read it, under any umask. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * Existing folders keep their mode. One `mkdir` for each missing folder: Node's recursive one loops for ever if the
 * kernel says ENOENT for a folder whose parent exists, as /proc does.
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
    // Another process created it meanwhile.
    if (codeOf(error) !== 'EEXIST' || !existsSync(path)) throw error;
  }
}

/** Throws the operating system's error if the file cannot be read and written. */
export function ensurePrivateFile(file: string): void {
  try {
    createPrivateFile(file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    closeToOthers(file);
    // Does not open the file: closing it again would drop every lock that this process holds on it.
    accessSync(file, constants.R_OK | constants.W_OK);
  }
}

/** SQLite takes an empty file for a new database, and gives its log the same mode. */
export function createPrivateFile(file: string): void {
  closeSync(openSync(file, 'wx', FILE_MODE));
  closeToOthers(file);
}

export function closeToOthers(file: string): void {
  try {
    if ((statSync(file).mode & 0o777) !== FILE_MODE) chmodSync(file, FILE_MODE);
  } catch (error) {
    // The file has another owner, or the file system has no modes: the operator decided so.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EROFS'].includes(codeOf(error))) throw error;
  }
}

import { constants } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../lib/fault.ts';

/** The reason why a folder cannot be read, as the end of a sentence. */
export async function findFolderProblem(folder: string): Promise<string | undefined> {
  try {
    const stats = await stat(folder);
    if (!stats.isDirectory()) return 'it is not a folder';
    await access(folder, constants.R_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return problemOf(error);
  }
}

/** Git may fail to recognize a repository only because the server may not read parts of it. */
export async function hasForbiddenPart(folder: string): Promise<boolean> {
  for (const part of ['HEAD', 'objects', 'refs', '.git']) {
    const error = await access(join(folder, part), constants.R_OK).catch((cause: unknown) => cause);
    if (error !== undefined && problemOf(error) === FORBIDDEN) return true;
  }
  return false;
}

/** A kept process reports refs that it cannot read as missing: throws unless the whole repository is readable. */
// SPEC C46
export async function checkReadable(gitDir: string, objectsDir: string): Promise<void> {
  for (const folder of [
    gitDir,
    objectsDir,
    join(gitDir, 'refs'),
    join(gitDir, 'refs', 'heads'),
    join(gitDir, 'refs', 'pull'),
  ]) {
    const problem = await findFolderProblem(folder);
    const isOptional = folder.endsWith('heads') || folder.endsWith('pull');
    if (problem === undefined || (isOptional && problem === ABSENT)) continue;
    throw unreadable(problem);
  }
}

/** Its file is not symbolic: a symbolic ref to a deleted one is gone too. Throws when it cannot be read. */
export async function hasLooseRef(gitDir: string, ref: string): Promise<boolean> {
  try {
    const file = join(gitDir, ref);
    return (await stat(file)).isFile() && !(await readFile(file, 'latin1')).startsWith('ref:');
  } catch (error) {
    return falseIfAbsent(error);
  }
}

/** A ref in packed-refs that git does not resolve points to a lost object. */
export async function hasPackedRef(gitDir: string, ref: string): Promise<boolean> {
  try {
    return (await readFile(join(gitDir, 'packed-refs'))).includes(` ${ref}\n`);
  } catch (error) {
    return falseIfAbsent(error);
  }
}

function falseIfAbsent(error: unknown): false {
  const problem = problemOf(error);
  if (problem === ABSENT) return false;
  throw unreadable(problem, error);
}

const ABSENT = 'it does not exist';
export const FORBIDDEN = 'the user the server runs as may not read it';

export function unreadable(problem: string, cause?: unknown): Fault {
  return new Fault('FORGE_UNAVAILABLE', `The git repository cannot be read: ${problem}.`, { cause });
}

function problemOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') return ABSENT;
  if (code === 'EACCES' || code === 'EPERM') return FORBIDDEN;
  return `the file system reports ${String(code)}`;
}

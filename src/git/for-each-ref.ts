import type { Sha } from '../lib/sha.ts';
import { runGit } from './exec.ts';
import type { Ref } from './git.ts';

const MAX_BYTES = 128 * 1024 * 1024;

export async function forEachRef(gitDir: string, pattern: string): Promise<readonly Ref[]> {
  const format = '--format=%(objectname) %(objecttype) %(refname)';
  const { stdout } = await runGit(['for-each-ref', format, '--end-of-options', pattern], {
    purpose: 'list the refs of the repository',
    gitDir,
    maxBytes: MAX_BYTES,
  });
  return stdout
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map(parseLine);
}

/** The commit of a ref, and whether the ref is symbolic. Undefined when it does not exist. */
export async function findRef(
  gitDir: string,
  ref: string,
): Promise<{ readonly sha: Sha; readonly isSymbolic: boolean } | undefined> {
  const format = '--format=%(objectname) %(refname) %(symref)';
  const { stdout } = await runGit(['for-each-ref', format, '--end-of-options', ref], {
    purpose: 'look for a ref of the repository',
    gitDir,
  });
  for (const line of stdout.toString().split('\n')) {
    const [sha, name, symref] = line.split(' ');
    if (name === ref) return { sha: sha as Sha, isSymbolic: symref !== '' };
  }
  return undefined;
}

export async function hasAnyRef(gitDir: string): Promise<boolean> {
  const { stdout } = await runGit(['for-each-ref', '--count=1', '--format=%(refname)'], {
    purpose: 'list the refs of the repository',
    gitDir,
  });
  return stdout.length > 0;
}

function parseLine(line: string): Ref {
  const [sha = '', type = '', ...name] = line.split(' ');
  return { sha: sha as Sha, type, name: name.join(' ') };
}

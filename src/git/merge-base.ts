import type { Sha } from '../lib/sha.ts';
import { runGit } from './exec.ts';
import type { AncestryPair, MergePair } from './git.ts';
import type { Mirror } from './mirror.ts';

const PURPOSE = 'read the history of the repository';

/** Criss-cross merges have several merge bases. */
export async function listMergeBases(mirror: Mirror, { target, head }: MergePair): Promise<readonly Sha[]> {
  const { stdout } = await runGit(['merge-base', '--all', '--end-of-options', target, head], {
    purpose: PURPOSE,
    gitDir: mirror.gitDir,
    extra: mirror.environment,
    expected: [0, 1],
  });
  return stdout
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '') as Sha[];
}

export async function isAncestor(mirror: Mirror, { ancestor, descendant }: AncestryPair): Promise<boolean> {
  const { exitCode } = await runGit(['merge-base', '--is-ancestor', '--end-of-options', ancestor, descendant], {
    purpose: PURPOSE,
    gitDir: mirror.gitDir,
    extra: mirror.environment,
    expected: [0, 1],
  });
  return exitCode === 0;
}

import { runGit } from './exec.ts';
import type { AncestryPair } from './git.ts';
import type { Mirror } from './mirror.ts';

export async function isAncestor(mirror: Mirror, { ancestor, descendant }: AncestryPair): Promise<boolean> {
  const { exitCode } = await runGit(['merge-base', '--is-ancestor', '--end-of-options', ancestor, descendant], {
    purpose: 'read the history of the repository',
    gitDir: mirror.gitDir,
    extra: mirror.environment,
    expected: [0, 1],
  });
  return exitCode === 0;
}

import { runGit } from './exec.ts';

/** Sets the branch that a clone checks out. */
export async function setHead(gitDir: string, branch: string): Promise<void> {
  await runGit(['symbolic-ref', 'HEAD', `refs/heads/${branch}`], { purpose: 'set the default branch', gitDir });
}

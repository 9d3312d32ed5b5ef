import { runGit } from './exec.ts';

/** Says which branch whoever clones the repository gets. */
export async function setHead(gitDir: string, branch: string): Promise<void> {
  await runGit(['symbolic-ref', 'HEAD', `refs/heads/${branch}`], { purpose: 'set the default branch', gitDir });
}

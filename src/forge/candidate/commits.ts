import type { GitRepository } from '../../git/git.ts';
import { assert } from '../../lib/assert.ts';
import type { Sha } from '../../lib/sha.ts';

/** Commit ids become arguments of git commands, so nothing else may pass for one. */
export function checkShas(shas: readonly Sha[]): void {
  assert(
    shas.every((sha) => /^[0-9a-f]{40,64}$/.test(sha)),
    'a commit is named by something that is no sha',
  );
}

/** The commits that the local copy of the repository lacks. */
export async function listMissing(git: GitRepository, shas: readonly Sha[]): Promise<readonly Sha[]> {
  const wanted = [...new Set(shas)];
  const commits = await Promise.all(wanted.map((sha) => git.findStoredCommit(sha)));
  return wanted.filter((_, index) => commits[index] === undefined);
}

import type { GitRepository } from '../../git/git.ts';
import { assert } from '../../lib/assert.ts';
import type { Sha } from '../../lib/sha.ts';

/** They become words of commands: nothing else may. */
export function checkShas(shas: readonly Sha[]): void {
  assert(
    shas.every((sha) => /^[0-9a-f]{40,64}$/.test(sha)),
    'a commit is named by something that is no sha',
  );
}

/** Those that the copy of the repository does not have. */
export async function listMissing(git: GitRepository, shas: readonly Sha[]): Promise<readonly Sha[]> {
  const wanted = [...new Set(shas)];
  const commits = await Promise.all(wanted.map((sha) => git.findStoredCommit(sha)));
  return wanted.filter((_, index) => commits[index] === undefined);
}

import type { GitRepository } from '../../git/git.ts';
import { branchRef } from '../../git/ref-name.ts';

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const KEPT = 'refs/sluice/candidates/';
const KEPT_NAME = new RegExp(`^(${UUID})$`);
const BRANCH_NAME = new RegExp(`^(?:head|pr-[0-9]+)/(${UUID})(?:-bisection)?$`);

/** A foreign ref of the same shape does no harm: the caller compares with the ids it knows. */
export async function listCandidateIds(git: GitRepository, prefix: string): Promise<readonly string[]> {
  const ids = new Set<string>();
  for (const [folder, name] of [
    [KEPT, KEPT_NAME],
    [branchRef(`${prefix}/`), BRANCH_NAME],
  ] as const) {
    for (const ref of await git.listRefs(folder)) {
      const id = name.exec(ref.name.slice(folder.length))?.[1];
      if (id !== undefined) ids.add(id);
    }
  }
  return [...ids].sort();
}

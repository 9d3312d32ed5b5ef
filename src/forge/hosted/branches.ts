import { branchRef, isBranchName } from '../../git/ref-name.ts';
import type { Sha } from '../../lib/sha.ts';
import { getCommit } from '../candidate/apply-entry.ts';
import { checkShas, listLine as listLineOf } from '../candidate/commits.ts';
import type { AncestryQuestion, ForgeRepository, LineAnswer, LineQuestion } from '../forge.ts';
import { fetchMissing, type GitAccess } from './git-access.ts';

/** Read with git, which no rate limit counts. */
// SPEC G4
export async function findBranchHead(
  access: GitAccess,
  repository: ForgeRepository,
  branch: string,
): Promise<Sha | undefined> {
  if (!isBranchName(branch)) return undefined;
  const [found] = await access.ask(repository, (git) => git.listRemoteRefs([branchRef(branch)]));
  return found?.sha;
}

export async function isAncestor(access: GitAccess, question: AncestryQuestion): Promise<boolean> {
  const { repository, ancestor, descendant } = question;
  checkShas([ancestor, descendant]);
  return access.ask(repository, async (git) => {
    const lost = await fetchMissing(git, [ancestor, descendant]);
    await getCommit(git, descendant);
    return !lost.includes(ancestor) && git.isAncestor({ ancestor, descendant });
  });
}

export async function hasCommit(access: GitAccess, repository: ForgeRepository, sha: Sha): Promise<boolean> {
  checkShas([sha]);
  return access.ask(repository, async (git) => (await fetchMissing(git, [sha])).length === 0);
}

export async function listLine(access: GitAccess, question: LineQuestion): Promise<LineAnswer> {
  const { repository, head, since, heads = new Map() } = question;
  checkShas([head, since, ...heads.values()]);
  return access.ask(repository, async (git) => {
    const lost = await fetchMissing(git, [head, since]);
    const obtain = (shas: readonly Sha[]) => fetchMissing(git, shas).catch(() => undefined);
    return lost.length > 0 ? { kind: 'lost' } : listLineOf(git, question, obtain);
  });
}

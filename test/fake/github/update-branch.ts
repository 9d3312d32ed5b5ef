import { commitTree } from './git.ts';
import { findOut } from './mergeability.ts';
import type { PullRequest, User, World } from './model.ts';
import { personOf, WEB_FLOW } from './people.ts';
import { branchHead, moveRefs } from './refs.ts';
import { Refused } from './refused.ts';
import { inTurn } from './world.ts';

/** Merges the base into the pull request's branch, like the button. */
export async function mergeBase(world: World, pr: PullRequest, by: User, expected: string | undefined): Promise<void> {
  const { repository, headRepository, headRef, baseRef } = pr;
  if (headRepository !== repository) throw new Refused(501, 'The fake GitHub does not update branches of forks');
  await inTurn(repository, async () => {
    const base = branchHead(repository, baseRef);
    if (expected !== undefined && expected !== pr.headSha)
      throw new Refused(422, "expected head sha didn't match current head ref.");
    if (pr.state === 'closed' || base === undefined) throw new Refused(422, 'Validation Failed');
    const merge = await findOut(world, pr, base);
    if (merge.tree === undefined) throw new Refused(422, 'merge conflict between base and head');
    if (!merge.isBehind) throw new Refused(422, 'There are no new commits on the base branch.');
    const after = await commitTree(repository.gitDir, {
      tree: merge.tree,
      parents: [pr.headSha, base],
      message: `Merge branch '${baseRef}' into ${headRef}`,
      author: personOf(by, world.now()),
      committer: { ...WEB_FLOW, at: world.now() },
    });
    await moveRefs(world, repository, by, [{ ref: `refs/heads/${headRef}`, after, isForward: true }]);
  });
}

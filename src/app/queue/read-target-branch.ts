import type { Sha } from '../../lib/sha.ts';
import type { App } from '../core/app.ts';
import { type FoundQueue, getForge, toForgeRepository } from '../core/find-queue.ts';

/** Asks where the target is, and tells the queue if that is news to it. */
export async function readTargetBranch(app: App, found: FoundQueue): Promise<void> {
  const { repository, queue } = found;
  const head = await getForge(app, repository.host).findBranchHead(toForgeRepository(repository), queue.branch);
  await observeTargetBranch(app, found, head);
}

/**
 * Tells the queue where its target was seen. `found` is the queue as it was before the forge was asked: a head seen before
 * the queue moved its target last is no news, and the engine passes it over.
 */
export async function observeTargetBranch(app: App, found: FoundQueue, seen: Sha | undefined): Promise<void> {
  const { head, landing, heads } = found.queue;
  if (seen === head?.sha || landing?.isBegun) return;
  const isDescendant = seen !== undefined && head !== undefined && (await isAncestor(app, found, head.sha, seen));
  await app.queues.run(found.id, () => ({
    kind: 'target_observed',
    at: app.clock.now(),
    head: seen,
    since: heads,
    isDescendant,
  }));
}

function isAncestor(app: App, { repository }: FoundQueue, ancestor: Sha, descendant: Sha): Promise<boolean> {
  const forge = getForge(app, repository.host);
  return forge.isAncestor({ repository: toForgeRepository(repository), ancestor, descendant });
}

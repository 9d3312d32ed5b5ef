import type { Sha } from '../../lib/sha.ts';
import type { App } from '../core/app.ts';
import { type FoundQueue, getForge, toForgeRepository } from '../core/find-queue.ts';

/** Reads the head of the target branch from the forge, and records it in the queue if it changed. */
export async function readTargetBranch(app: App, found: FoundQueue): Promise<void> {
  const { repository, queue } = found;
  const head = await getForge(app, repository.host).findBranchHead(toForgeRepository(repository), queue.branch);
  await observeTargetBranch(app, found, head);
}

/**
 * Records the head of the target branch that the forge returned. `found` is the queue as it was before the read: the
 * engine ignores a head that was read before the queue's own last landing.
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

import type { PrNumber, PullRequestFacts } from '../../engine/pull-request.ts';
import type { ImpactedTargets } from '../../engine/targets.ts';
import type { Sha } from '../../lib/sha.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { App } from '../core/app.ts';
import { type FoundQueue, getForge, toForgeRepository } from '../core/find-queue.ts';
import { decodeImpactedTargets } from '../core/queue-codec.ts';

export function findPullRequest(app: App, found: FoundQueue, number: PrNumber): Promise<PullRequestFacts | undefined> {
  const { repository, queue } = found;
  const forge = getForge(app, repository.host);
  return forge.findPullRequest({ repository: toForgeRepository(repository), number, targetBranch: queue.branch });
}

/** The targets uploaded for exactly this head commit. */
// SPEC T1
export async function findTargets(
  app: App,
  queueId: QueueId,
  head: { readonly prNumber: PrNumber; readonly sha: Sha },
): Promise<ImpactedTargets | undefined> {
  const row = await app.store.queues.findImpactedTargets(queueId, head.prNumber, head.sha);
  if (row === undefined) return undefined;
  const set = row.targetsDigest === null ? undefined : await app.store.queues.findTargetSet(row.targetsDigest);
  return decodeImpactedTargets(row, set);
}

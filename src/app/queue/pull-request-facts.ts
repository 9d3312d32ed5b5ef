import type { PrNumber, PullRequestFacts } from '../../engine/model/pull-request.ts';
import { type Entry, findEntry, isAdmitted } from '../../engine/model/queue.ts';
import type { ImpactedTargets } from '../../engine/model/targets.ts';
import { isSame } from '../../lib/is-same.ts';
import type { Sha } from '../../lib/sha.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { App } from '../core/app.ts';
import { type FoundQueue, getForge, toForgeRepository } from '../core/find-queue.ts';
import { decodeImpactedTargets } from '../core/queue-codec.ts';
import { readTargetBranch } from './read-target-branch.ts';

export async function findPullRequest(
  app: App,
  found: FoundQueue,
  number: PrNumber,
): Promise<PullRequestFacts | undefined> {
  const { repository, queue } = found;
  const forge = getForge(app, repository.host);
  return forge.findPullRequest({ repository: toForgeRepository(repository), number, targetBranch: queue.branch });
}

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

/** Undefined: it is gone. False: the entry got other facts during the read, and what was read may be older. */
export async function observePullRequest(
  app: App,
  found: FoundQueue,
  entry: Entry,
  pr: PullRequestFacts | undefined,
): Promise<boolean> {
  if (pr !== undefined && isSame(entry.pr, isAdmitted(entry) ? asItWas(entry.pr, pr) : pr)) return true;
  const { prNumber } = entry;
  // A landing of this queue whose record is lost is told by the branch, and is no merge by hand.
  const loaded = pr?.status === 'merged' ? await app.queues.find(found.id) : undefined;
  if (loaded !== undefined) await readTargetBranch(app, { ...loaded, repository: found.repository });
  const targets = pr === undefined ? undefined : await findTargets(app, found.id, { prNumber, sha: pr.headSha });
  let isLatest = true;
  await app.queues.run(found.id, (queue) => {
    const present = findEntry(queue, prNumber);
    // Equal, not identical: a queue that is loaded again has new objects.
    isLatest = present === undefined || isSame(present.pr, entry.pr);
    if (present === undefined || !isLatest) return undefined;
    return { kind: 'pull_request_observed', at: app.clock.now(), prNumber, pr, targets };
  });
  return isLatest;
}

/** Each landing makes the forge recompute mergeability of every pull request, which an admitted entry does not need. */
function asItWas(known: PullRequestFacts, pr: PullRequestFacts): PullRequestFacts {
  if (pr.mergeability !== 'IN_PROGRESS') return pr;
  const { mergeability, blockReasons, failingChecks, awaitedChecks } = known;
  return { ...pr, mergeability, blockReasons, failingChecks, awaitedChecks };
}

/** Facts of the forge: pull requests and the target branch as they are read there, and the events that tell the queue. */
import type { PrNumber, PullRequestFacts } from '../../engine/model/pull-request.ts';
import { type Entry, findEntry, isAdmitted } from '../../engine/model/queue.ts';
import type { ImpactedTargets } from '../../engine/model/targets.ts';
import type { LineCommit } from '../../forge/forge.ts';
import { valuesOf } from '../../lib/int-map.ts';
import { isSame } from '../../lib/is-same.ts';
import { present } from '../../lib/present.ts';
import type { Sha } from '../../lib/sha.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { App } from '../core/app.ts';
import { type FoundQueue, getForge, toForgeRepository } from '../core/find-queue.ts';
import { MAX_COMMITS } from '../core/format-audit.ts';
import { decodeImpactedTargets } from '../core/queue-codec.ts';
import { withBelow } from './read-below.ts';

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
  read: PullRequestFacts | undefined,
): Promise<boolean> {
  const pr = read === undefined || isAdmitted(entry) ? read : await withBelow(app, found, read, entry);
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
    // In the line it was read without what is below it, for which it has left the line meanwhile.
    if (present !== undefined && isAdmitted(entry) && !isAdmitted(present)) isLatest = false;
    if (present === undefined || !isLatest) return undefined;
    return { kind: 'pull_request_observed', at: app.clock.now(), prNumber, pr, targets };
  });
  return isLatest;
}

/** Each landing makes the forge recompute mergeability of every pull request, which an admitted entry does not need. */
function asItWas(known: PullRequestFacts, { dependsOn: _, ...read }: PullRequestFacts): PullRequestFacts {
  const pr = { ...read, ...present({ below: known.below, dependsOn: known.dependsOn }) };
  if (pr.mergeability !== 'IN_PROGRESS') return pr;
  const { mergeability, blockReasons, failingChecks, awaitedChecks, blockDetail } = known;
  return { ...pr, mergeability, blockReasons, failingChecks, awaitedChecks, ...present({ blockDetail }) };
}

/** Reads the head of the target branch from the forge, and records it in the queue if it changed. */
export async function readTargetBranch(app: App, found: FoundQueue): Promise<void> {
  const { repository, queue } = found;
  const head = await getForge(app, repository.host).findBranchHead(toForgeRepository(repository), queue.branch);
  await observeTargetBranch(app, found, head);
}

/** `found` is from before the read: the engine ignores a head older than its own last landing. True: it is new. */
export async function observeTargetBranch(app: App, found: FoundQueue, seen: Sha | undefined): Promise<boolean> {
  const { head, landing, heads } = found.queue;
  if (seen === head?.sha || landing?.isBegun) return false;
  const isDescendant = seen !== undefined && head !== undefined && (await isAncestor(app, found, head.sha, seen));
  const line = isDescendant ? await readLine(app, found, { head: seen, since: head.sha }) : [];
  await endLanded(app, found, line);
  await app.queues.run(found.id, () => ({
    kind: 'target_observed',
    at: app.clock.now(),
    head: seen,
    since: heads,
    isDescendant,
    ...(line[0]?.isOwn ? { isOwn: true as const } : {}),
  }));
  return true;
}

interface SeenCommit extends LineCommit {
  /** This queue made it, and the store does not know that it landed. */
  readonly isOwn: boolean;
}

/** The new commits, newest first; none if they are no line. */
// SPEC L36
async function readLine(
  app: App,
  { repository, queue }: FoundQueue,
  range: { readonly head: Sha; readonly since: Sha },
): Promise<readonly SeenCommit[]> {
  const heads = new Map([...valuesOf(queue.entries)].map(({ prNumber, pr }) => [prNumber, pr.headSha]));
  const { signingKey: proofKey } = app.store;
  const question = { repository: toForgeRepository(repository), ...range, heads, proofKey, limit: MAX_COMMITS };
  const line = await getForge(app, repository.host).listLine(question);
  const seen: SeenCommit[] = [];
  for (const commit of line.kind === 'line' ? line.commits : []) {
    const { provenCandidate: id, sha } = commit;
    // A candidate is signed before it is tested, and anybody who may push can push it. Beneath a landing it has landed.
    const known = id === undefined ? undefined : await app.store.queueRecords.findCandidateById(id);
    const isUntested = known !== undefined && known.sha === sha && known.state !== 'passed';
    seen.push({ ...commit, isOwn: id !== undefined && (!isUntested || seen.some(({ isOwn }) => isOwn)) });
  }
  return seen;
}

function isAncestor(app: App, { repository }: FoundQueue, ancestor: Sha, descendant: Sha): Promise<boolean> {
  const forge = getForge(app, repository.host);
  return forge.isAncestor({ repository: toForgeRepository(repository), ancestor, descendant });
}

// SPEC L35
async function endLanded(app: App, { id, queue }: FoundQueue, line: readonly SeenCommit[]): Promise<void> {
  for (const { prNumber, sha, isOwn } of line.toReversed()) {
    if (prNumber === undefined) continue;
    await app.queues.run(id, (present) => {
      const entry = findEntry(present, prNumber);
      // Another head has not landed. Other facts may have changed during the read.
      if (entry === undefined || entry.pr.headSha !== findEntry(queue, prNumber)?.pr.headSha) return undefined;
      const pr = { ...entry.pr, baseBranch: present.branch, status: 'merged' as const };
      const facts = { prNumber, pr, targets: entry.targets, ...(isOwn ? { landedAs: sha } : {}) };
      return { kind: 'pull_request_observed', at: app.clock.now(), ...facts };
    });
  }
}

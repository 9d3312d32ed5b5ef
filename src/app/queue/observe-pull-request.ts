import type { PullRequestFacts } from '../../engine/pull-request.ts';
import { type Entry, findEntry, isAdmitted } from '../../engine/queue.ts';
import type { App } from '../core/app.ts';
import type { FoundQueue } from '../core/find-queue.ts';
import { findTargets } from './pull-request-facts.ts';

/** Records the present state of an entry's pull request if it changed. Undefined: the pull request is gone. */
export async function observePullRequest(
  app: App,
  found: FoundQueue,
  entry: Entry,
  pr: PullRequestFacts | undefined,
): Promise<void> {
  if (pr !== undefined && isSame(entry, pr)) return;
  const { prNumber } = entry;
  const targets = pr === undefined ? undefined : await findTargets(app, found.id, { prNumber, sha: pr.headSha });
  await app.queues.run(found.id, (queue) => {
    // The entry got newer facts during the read: the next poll compares with those.
    if (findEntry(queue, prNumber)?.pr !== entry.pr) return undefined;
    return { kind: 'pull_request_observed', at: app.clock.now(), prNumber, pr, targets };
  });
}

function isSame(entry: Entry, pr: PullRequestFacts): boolean {
  return JSON.stringify(entry.pr) === JSON.stringify(isAdmitted(entry) ? asItWas(entry.pr, pr) : pr);
}

/** Each landing makes the forge recompute mergeability of every pull request, which an admitted entry does not need. */
function asItWas(
  { mergeability, blockReasons, failingChecks }: PullRequestFacts,
  pr: PullRequestFacts,
): PullRequestFacts {
  return pr.mergeability === 'IN_PROGRESS' ? { ...pr, mergeability, blockReasons, failingChecks } : pr;
}

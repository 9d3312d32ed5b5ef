import type { ReadmitEntry } from '../../engine/effect.ts';
import { findTargets } from '../queue/pull-request-facts.ts';
import { DONE, type EffectAnswer, type EffectRun } from './effect-run.ts';

/** Reads a removed pull request as it is now: the queue takes it back only if it did not change. */
export async function readmitEntry(
  { app, found, forge, repository }: EffectRun,
  { prNumber, submission }: ReadmitEntry,
): Promise<EffectAnswer> {
  if (!found.queue.returning.some(({ entry }) => entry.submission === submission)) return DONE;
  const pr = await forge.findPullRequest({ repository, number: prNumber, targetBranch: found.queue.branch });
  const targets = pr === undefined ? undefined : await findTargets(app, found.id, { prNumber, sha: pr.headSha });
  return { kind: 'event', event: { kind: 'removed_pull_request_observed', prNumber, submission, pr, targets } };
}

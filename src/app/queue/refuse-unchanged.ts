import { randomUUID } from 'node:crypto';
import { branchSubjectOf, type Candidate } from '../../engine/model/candidate.ts';
import type { PullRequestFacts } from '../../engine/model/pull-request.ts';
import { areSameChecks, requiredChecks } from '../../engine/model/required.ts';
import { present } from '../../lib/present.ts';
import type { App } from '../core/app.ts';
import { type FoundQueue, getForge, toForgeRepository } from '../core/find-queue.ts';
import { type Refusal, refuse } from '../core/refusal.ts';
import { viewResult } from './entry-result.ts';
import { collectBeyond } from './entry-run.ts';
import { findEndedEntry } from './find-entry.ts';

/** Undefined: it is not known to fail again, or is built on others. */
// SPEC E95
export async function refuseUnchanged(app: App, found: FoundQueue, pr: PullRequestFacts): Promise<Refusal | undefined> {
  const { settings } = found.queue;
  if (!settings.refuseUnchanged || (pr.below ?? []).length > 0) return undefined;
  const entry = await findEndedEntry(app, found, pr.number);
  if (entry?.state !== 'FAILED') return undefined;
  const beyond = await collectBeyond(app, found, entry);
  const result = await viewResult({ app, found, entry, beyond, now: app.clock.now() });
  const { last } = beyond;
  const isOfChange = result.cause === 'TESTS' || result.cause === 'BUILD' || result.cause === 'UNKNOWN';
  if (
    result.mayRetry?.when !== 'CHANGED' ||
    !isOfChange ||
    last === undefined ||
    !(await isSameAgain(app, found, pr, last))
  )
    return undefined;
  const again = `#${pr.number} would be tested as it was when it failed, and nothing has changed since.`;
  const detail = `${again} ${result.next} To test it all the same: force.`;
  return { ...refuse('UNCHANGED_SINCE_FAILURE', detail), result };
}

/** Alone on the present head, it would be tested with the tree, the checks and the commands of that run. */
async function isSameAgain(
  app: App,
  { repository: of, queue }: FoundQueue,
  { number: prNumber, headSha, title, author, mergeTitle }: PullRequestFacts,
  run: Candidate,
): Promise<boolean> {
  const { commit, required, lastPasses = [] } = run;
  const repository = toForgeRepository(of);
  const forge = getForge(app, repository.host);
  const base = await forge.findBranchHead(repository, queue.branch);
  if (base === undefined || commit === undefined || required === undefined) return false;
  const candidate = { repository, candidateId: randomUUID() };
  const asked = {
    ...{ ...candidate, targetBranch: queue.branch, base, parent: undefined, beneath: [] },
    members: [{ prNumber, headSha, title, author, ...present({ mergeTitle }) }],
    ...{ mergeMethod: queue.settings.mergeMethod, plannedAt: app.clock.now() },
  };
  const answer = await forge
    .buildCandidate(asked)
    .finally(() => forge.discardCandidate({ ...candidate, ...branchSubjectOf(run) }));
  if (answer.kind !== 'built' || answer.tree !== commit.tree) return false;
  const now = requiredChecks(queue.settings, answer.sources, lastPasses);
  return typeof now !== 'string' && areSameChecks(now, required);
}

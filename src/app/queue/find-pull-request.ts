import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import type * as contract from '../../contract/pull-requests.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type FoundQueue, findQueue, formatRef, getForge, toForgeRepository } from '../core/find-queue.ts';
import { type Answer, isRefusal, refuse } from '../core/refusal.ts';
import { findPullRequest as readFacts } from './forge-facts.ts';
import { pullRequestNotFound } from './submit-pull-request.ts';

// SPEC E96
export async function findPullRequest(
  app: App,
  caller: Caller,
  input: RequestOf<typeof contract.findPullRequest>,
): Answer<ReplyOf<typeof contract.findPullRequest>> {
  const found = await findQueue(app, caller, input);
  if (isRefusal(found)) return found;
  const { pr } = input;
  if (pr === undefined) return { highestNumber: await findHighest(app, found) };
  const prNumber = pr.number ?? (await findByBranch(app, found, pr.branch ?? ''));
  if (isRefusal(prNumber)) return prNumber;
  const facts = await readFacts(app, found, prNumber);
  if (facts === undefined) return pullRequestNotFound({ ...input, prNumber });
  return { prNumber, prSha: facts.headSha, prTitle: facts.title, prUrl: facts.url };
}

export async function findHighest(app: App, { repository }: FoundQueue): Promise<number> {
  const queues = await app.directory.listQueueIds(repository.id);
  const numbers = await Promise.all(queues.map((id) => app.store.queueRecords.findHighestNumber(id)));
  return Math.max(0, ...numbers.map((number) => number ?? 0));
}

// SPEC G98
export async function findByBranch(app: App, { repository, queue }: FoundQueue, branch: string): Answer<PrNumber> {
  const { hosting } = getForge(app, repository.host);
  const prNumber = await hosting?.findByBranch(toForgeRepository(repository), branch, queue.branch);
  if (prNumber !== undefined) return prNumber;
  const where = formatRef(repository);
  const sentence =
    hosting === undefined
      ? `Pull requests of ${where} have no head branch ("${branch}"): plain git knows them by number only.`
      : `No open pull request of ${where} has the head branch "${branch}". Pull requests of forks, and closed ones, are found by number only.`;
  return refuse('PULL_REQUEST_NOT_FOUND', sentence);
}

import type { Candidate, CandidateNumber } from '../../engine/model/candidate.ts';
import type { PrNumber, PullRequestFacts } from '../../engine/model/pull-request.ts';
import { type Entry, findCandidate, findEntry } from '../../engine/model/queue.ts';
import type { App } from '../core/app.ts';
import type { LoadedQueue } from '../core/commit-draft.ts';
import { type EntryRef, type FoundQueue, formatRef, getForge, toForgeRepository } from '../core/find-queue.ts';
import { decodeCandidate, decodeShownEntry } from '../core/queue-codec.ts';
import { type Refusal, refuse } from '../core/refusal.ts';

type InQueue = Pick<LoadedQueue, 'id' | 'queue'>;

/** Live candidates are in memory, ended ones in the store. */
export async function findAnyCandidate(
  { store }: App,
  { id, queue }: InQueue,
  number: CandidateNumber,
): Promise<Candidate | undefined> {
  const live = findCandidate(queue, number);
  const row = live === undefined ? await store.queueRecords.findCandidate(id, number) : undefined;
  return live ?? (row && decodeCandidate(row));
}

/** Live entries are in memory, ended ones in the store. */
export async function findAnyEntry(app: App, found: InQueue, prNumber: PrNumber): Promise<Entry | undefined> {
  return findEntry(found.queue, prNumber) ?? (await findEndedEntry(app, found, prNumber));
}

/** Reads the ended ones with one query. */
export async function findAnyEntries(
  app: App,
  { id, queue }: InQueue,
  prNumbers: readonly PrNumber[],
): Promise<ReadonlyMap<PrNumber, Entry>> {
  const live = prNumbers.flatMap((prNumber) => findEntry(queue, prNumber) ?? []);
  const missing = new Set(prNumbers).difference(new Set(live.map(({ prNumber }) => prNumber)));
  const rows = missing.size === 0 ? [] : await app.store.queueRecords.findEntries(id, [...missing]);
  return new Map([...rows.map(decodeShownEntry), ...live].map((entry) => [entry.prNumber, entry]));
}

export async function findEndedEntry(
  { store }: App,
  { id }: Pick<InQueue, 'id'>,
  prNumber: PrNumber,
): Promise<Entry | undefined> {
  const row = await store.queueRecords.findEntry(id, prNumber);
  return row === undefined ? undefined : decodeShownEntry(row);
}

/** Only the record tells of a squash or rebase: a submission repeated after a lost answer lands nothing twice. */
// SPEC E19
export async function hasLanded(app: App, found: FoundQueue, pr: PullRequestFacts): Promise<boolean> {
  const entry = await findEndedEntry(app, found, pr.number);
  if (entry?.state !== 'MERGED' || entry.landed === undefined || entry.pr.headSha !== pr.headSha) return false;
  const repository = toForgeRepository(found.repository);
  const forge = getForge(app, repository.host);
  const head = await forge.findBranchHead(repository, found.queue.branch);
  return head !== undefined && forge.isAncestor({ repository, ancestor: entry.landed.sha, descendant: head });
}

export function neverSubmitted(input: EntryRef): Refusal {
  const where = `the queue for branch "${input.targetBranch}" of ${formatRef(input.repo)}`;
  return refuse(
    'PULL_REQUEST_NOT_FOUND',
    `Pull request #${input.prNumber} was never submitted to ${where}. submitPullRequest submits it.`,
  );
}

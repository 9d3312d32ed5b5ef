import type { PrNumber } from '../../engine/model/pull-request.ts';
import { type Entry, findEntry } from '../../engine/model/queue.ts';
import type { App } from '../core/app.ts';
import { type EntryRef, type FoundQueue, formatRef } from '../core/find-queue.ts';
import { decodeShownEntry } from '../core/queue-codec.ts';
import { type Refusal, refuse } from '../core/refusal.ts';

/** Live entries are in memory, ended ones in the store. */
export async function findAnyEntry(app: App, found: FoundQueue, prNumber: PrNumber): Promise<Entry | undefined> {
  return findEntry(found.queue, prNumber) ?? (await findEndedEntry(app, found, prNumber));
}

/** Reads the ended ones with one query. */
export async function findAnyEntries(
  app: App,
  found: FoundQueue,
  prNumbers: readonly PrNumber[],
): Promise<ReadonlyMap<PrNumber, Entry>> {
  const entries = new Map<PrNumber, Entry>();
  const ended = prNumbers.filter((prNumber) => findEntry(found.queue, prNumber) === undefined);
  for (const row of ended.length === 0 ? [] : await app.store.queueRecords.findEntries(found.id, ended)) {
    entries.set(row.prNumber as PrNumber, decodeShownEntry(row));
  }
  for (const prNumber of prNumbers) {
    const live = findEntry(found.queue, prNumber);
    if (live !== undefined) entries.set(prNumber, live);
  }
  return entries;
}

export async function findEndedEntry(app: App, found: FoundQueue, prNumber: PrNumber): Promise<Entry | undefined> {
  const row = await app.store.queueRecords.findEntry(found.id, prNumber);
  return row === undefined ? undefined : decodeShownEntry(row);
}

export function neverSubmitted(input: EntryRef): Refusal {
  const where = `the queue for branch "${input.targetBranch}" of ${formatRef(input.repo)}`;
  return refuse(
    'PULL_REQUEST_NOT_FOUND',
    `Pull request #${input.prNumber} was never submitted to ${where}. submitPullRequest submits it.`,
  );
}

import { hash } from 'node:crypto';
import type { CandidateNumber } from '../../engine/model/candidate.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { EntryId } from '../../engine/model/queue.ts';
import type { QueueId } from '../../storage/queues.ts';

/** Its id is a hash of the two, so that two servers make the same one without a read of the store. */
// SPEC E3
export function entryIdOf(queueId: QueueId, prNumber: PrNumber): EntryId {
  return uuidOf(`${queueId}/${prNumber}`) as EntryId;
}

/** The API's testRunId: a hash of the queue and the candidate's number in it. */
export function candidateIdOf(queueId: QueueId, candidate: CandidateNumber): string {
  return uuidOf(`${queueId}/candidate/${candidate}`);
}

/** One step names the same entries and candidates in rows, events and effects, and a hash takes as long as a row. */
const KEPT = 4_096;
const kept = new Map<string, string>();

function uuidOf(text: string): string {
  const known = kept.get(text);
  if (known !== undefined) return known;
  if (kept.size === KEPT) kept.clear();
  const made = hashToUuid(text);
  kept.set(text, made);
  return made;
}

function hashToUuid(text: string): string {
  const digest = hash('sha256', text);
  // Version 8 of RFC 9562 leaves the bits of a UUID to the application.
  const parts = [digest.slice(0, 8), digest.slice(8, 12), `8${digest.slice(13, 16)}`, `8${digest.slice(17, 20)}`];
  return `${parts.join('-')}-${digest.slice(20, 32)}`;
}

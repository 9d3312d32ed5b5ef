import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { encodeCandidate, encodeQueue } from '../../src/app/core/queue-codec.ts';
import type { Candidate, CandidateNumber } from '../../src/engine/model/candidate.ts';
import type { Check, CheckConclusion } from '../../src/engine/model/check.ts';
import { createQueue } from '../../src/engine/model/queue.ts';
import { DEFAULT_SETTINGS } from '../../src/engine/model/settings.ts';
import type { Sha } from '../../src/lib/sha.ts';
import type { QueueId } from '../../src/storage/queues.ts';
import type { RepositoryId } from '../../src/storage/repositories.ts';
import type { Store } from '../../src/storage/store.ts';
import { aCommit, NOON } from './store-rows.ts';

export interface StoredCandidate {
  /** The API's testRunId. */
  readonly id: string;
  readonly queueId: QueueId;
  /** Ends a check in the store directly. The server must then forget the queue. */
  conclude(check: string, conclusion: CheckConclusion): Promise<void>;
}

interface Given extends Partial<Omit<Candidate, 'checks'>> {
  readonly branch?: string;
  /** Conclusions by name; undefined: in progress. */
  readonly checks?: Readonly<Record<string, CheckConclusion | undefined>>;
}

/** Writes a queue with one candidate directly into the store. */
export async function storeCandidate(store: Store, repositoryId: RepositoryId, given: Given): Promise<StoredCandidate> {
  const { branch = 'main', checks = {}, ...values } = given;
  const id = randomUUID() as QueueId;
  const body = encodeQueue(createQueue(branch, DEFAULT_SETTINGS, 'RUNNING'));
  const event = { version: 1, at: NOON, kind: 'queue_created', body: '{}' };
  await store.queues.create({ id, repositoryId, branch, version: 1, body, createdAt: NOON }, event);
  const candidate = aCandidate({ ...values, checks: Object.entries(checks).map(([name, end]) => aCheck(name, end)) });
  let version = 1;
  const write = async (as: Candidate): Promise<string> => {
    const row = encodeCandidate(as, { queueId: id, version: version + 1, isLive: as.endedAt === undefined });
    assert.equal(await store.queues.commit(aCommit(id, version, { body, candidates: [row] })), 'committed');
    version += 1;
    return row.id;
  };
  return {
    id: await write(candidate),
    queueId: id,
    conclude: async (name, end) => {
      const done = candidate.checks.map((check) => (check.name === name ? aCheck(name, end) : check));
      await write({ ...candidate, checks: done, state: 'failed', endedAt: NOON });
    },
  };
}

function aCandidate(values: Partial<Candidate>): Candidate {
  return {
    number: 1 as CandidateNumber,
    purpose: { kind: 'main' },
    place: 1,
    base: { sha: 'ab'.repeat(20) as Sha, ordinal: 1, epoch: 1 },
    beneath: [],
    members: [],
    parent: undefined,
    mergeMethod: 'MERGE_COMMIT',
    tries: 0,
    state: 'testing',
    plannedAt: NOON,
    commit: undefined,
    required: undefined,
    testingSince: NOON,
    checks: [],
    sameTreeAs: undefined,
    pass: undefined,
    failure: undefined,
    composedWith: [],
    endedAt: undefined,
    ending: undefined,
    ...values,
  };
}

function aCheck(name: string, conclusion: CheckConclusion | undefined): Check {
  const status = conclusion === undefined ? 'IN_PROGRESS' : 'COMPLETED';
  return { name, status, conclusion, startedAt: NOON, url: undefined, summary: undefined, reportedAt: NOON };
}

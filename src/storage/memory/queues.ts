import { assert } from '../../lib/assert.ts';
import type { Instant } from '../../lib/clock.ts';
import { checkCommit, newestInstant } from '../check-commit.ts';
import {
  type CandidateRow,
  type EntryFilter,
  type EntryRow,
  type ImpactedTargetsRow,
  isOutranked,
  KEPT_UPLOADS,
  type QueueCommit,
  type QueueSnapshot,
  type QueueStore,
  TARGET_SET_RENEWAL_MS,
  type TransitionRow,
} from '../queues.ts';
import { checkEffects, memoryEffects, putEffects } from './effects.ts';
import { frozenCopy } from './frozen-copy.ts';
import { compareText } from './order.ts';
import type { MemoryQueue, MemoryState } from './state.ts';

const TERMINAL: ReadonlySet<string> = new Set(['MERGED', 'FAILED', 'CANCELLED']);

export function createMemoryQueues(state: MemoryState): QueueStore {
  const present = (queueId: string) => {
    const queue = state.queues.get(queueId);
    return queue === undefined || queue.isDeleted ? undefined : queue;
  };
  return {
    ...memoryQueueWrites(state, present),
    ...memoryRowReads(state),
    ...memoryCandidateReads(state),
    ...memoryEffects(state),
    find: async (repositoryId, branch) => presentOf(state, repositoryId).find(({ row }) => row.branch === branch)?.row,
    listByRepository: async (repositoryId) =>
      presentOf(state, repositoryId)
        .map(({ row }) => row)
        .sort((a, b) => compareText(a.branch, b.branch)),
    load: async (queueId) => snapshot(state, present(queueId), (row) => row.isLive),
    loadSince: async (queueId, version) => snapshot(state, present(queueId), (row) => row.version > version),
    findVersion: async (queueId) => present(queueId)?.row.version,
    listEntries: async (filter) => listEntries(state.queues.get(filter.queueId), filter),
    listEvents: async (queueId, afterVersion, limit) =>
      (state.queues.get(queueId)?.events ?? []).filter((event) => event.version > afterVersion).slice(0, limit),
  };
}

function memoryQueueWrites(state: MemoryState, present: (queueId: string) => MemoryQueue | undefined) {
  return {
    async create(queue, event) {
      const [row, firstEvent] = frozenCopy([queue, event] as const);
      assert(state.repositories.has(row.repositoryId), `there is no repository ${row.repositoryId}`);
      if (presentOf(state, row.repositoryId).some((other) => other.row.branch === row.branch)) return 'exists';
      assert(!state.queues.has(row.id), `there is already a queue ${row.id}`);
      state.queues.set(row.id, emptyQueue(row, firstEvent));
      return 'created';
    },
    async delete(queueId, expectedVersion) {
      const queue = present(queueId);
      if (queue?.row.version !== expectedVersion) return 'stale';
      queue.isDeleted = true;
      return 'deleted';
    },
    async commit(commit) {
      checkCommit(commit);
      const kept = frozenCopy(commit);
      const queue = present(commit.queueId);
      if (queue?.row.version !== commit.expectedVersion) return 'stale';
      checkRows(queue, kept);
      checkCandidates(state, kept);
      checkEffects(state, kept);
      applyCommit(state, queue, kept);
      return 'committed';
    },
    removeUnusedTargetSets: async (before) => removeUnusedTargetSets(state, before),
  } satisfies Partial<QueueStore>;
}

function memoryRowReads(state: MemoryState) {
  const timelineOf = (entryId: string) =>
    [...state.queues.values()].flatMap((queue) => queue.timelines.get(entryId) ?? []);
  return {
    findEntry: async (queueId, prNumber) => state.queues.get(queueId)?.entries.get(prNumber),
    async findEntries(queueId, prNumbers) {
      const entries = state.queues.get(queueId)?.entries;
      return [...new Set(prNumbers)].flatMap((prNumber) => entries?.get(prNumber) ?? []);
    },
    findTargetSet: async (digest) => state.targetSets.get(digest)?.row,
    findImpactedTargets: async (queueId, prNumber, sha) =>
      state.queues.get(queueId)?.impactedTargets.get(targetsKey({ prNumber, sha })),
    listTransitions: async (entryId) =>
      timelineOf(entryId).sort((a, b) => b.version - a.version || b.ordinal - a.ordinal),
    listTransitionsWithin: async ({ queueIds, from, until }) =>
      [...new Set(queueIds)]
        .flatMap((queueId) => state.queues.get(queueId)?.transitions ?? [])
        .filter(({ at }) => at >= from && at <= until)
        .sort(compareTransitions),
    async listDepartures({ queueId, state: from, offset, limit, ...window }) {
      const rows = (state.queues.get(queueId)?.transitions ?? [])
        .filter((row) => row.from === from && row.at >= window.from && row.at <= window.until)
        .sort((a, b) => compareTransitions(b, a));
      return { rows: rows.slice(offset, offset + limit), total: rows.length };
    },
  } satisfies Partial<QueueStore>;
}

function memoryCandidateReads(state: MemoryState) {
  return {
    findCandidate: async (queueId, number) => state.queues.get(queueId)?.candidates.get(number),
    findCandidateById: async (id) => state.candidates.get(id),
    findCandidateBySha: async (queueIds, sha) =>
      [...new Set(queueIds)]
        .flatMap((queueId) => [...(state.queues.get(queueId)?.candidates.values() ?? [])])
        .filter((candidate) => candidate.sha === sha)
        .sort((a, b) => b.createdAt - a.createdAt || b.number - a.number)[0],
  } satisfies Partial<QueueStore>;
}

function presentOf(state: MemoryState, repositoryId: string): MemoryQueue[] {
  return [...state.queues.values()].filter((queue) => !queue.isDeleted && queue.row.repositoryId === repositoryId);
}

function emptyQueue(row: MemoryQueue['row'], event: MemoryQueue['events'][number]): MemoryQueue {
  return {
    row,
    isDeleted: false,
    events: [event],
    entries: new Map(),
    transitions: [],
    timelines: new Map(),
    candidates: new Map(),
    effects: new Map(),
    impactedTargets: new Map(),
  };
}

/** What the databases' constraints refuse, looked at before anything is written. */
function checkRows(queue: MemoryQueue, { entries, transitions }: QueueCommit): void {
  for (const entry of entries) {
    const before = queue.entries.get(entry.prNumber);
    assert(before === undefined || before.id === entry.id, `#${entry.prNumber} already has the entry ${before?.id}`);
  }
  assert(new Set(entries.map(({ prNumber }) => prNumber)).size === entries.length, 'a commit gives each entry once');
  for (const { entryId, version, ordinal } of transitions) {
    const isStored = queue.timelines.get(entryId)?.some((row) => row.version === version && row.ordinal === ordinal);
    assert(!isStored, `the transition ${version}.${ordinal} of ${entryId} is already stored`);
  }
}

function checkCandidates({ candidates }: MemoryState, commit: QueueCommit): void {
  for (const { id, queueId, number } of commit.candidates) {
    const other = candidates.get(id);
    const isFree = other === undefined || (other.queueId === queueId && other.number === number);
    assert(isFree, `there is already a candidate ${id}`);
  }
  const ids = commit.candidates.map(({ id }) => id);
  assert(new Set(ids).size === ids.length, 'no two candidates have one id');
}

function applyCommit(state: MemoryState, queue: MemoryQueue, commit: QueueCommit): void {
  const version = commit.expectedVersion + commit.events.length;
  queue.row = Object.freeze({ ...queue.row, version, body: commit.body });
  queue.events.push(...commit.events);
  for (const entry of commit.entries) queue.entries.set(entry.prNumber, entry);
  for (const transition of commit.transitions) addTransition(queue, transition);
  for (const candidate of commit.candidates) putCandidate(state, queue, candidate);
  putEffects(queue, commit, version);
  addTargetSets(state, commit);
  for (const row of commit.impactedTargets) {
    if (!isOutranked(row, queue.impactedTargets.get(targetsKey(row)))) queue.impactedTargets.set(targetsKey(row), row);
  }
  for (const prNumber of new Set(commit.impactedTargets.map((row) => row.prNumber))) dropOldUploads(queue, prNumber);
}

function addTargetSets(state: MemoryState, { targetSets, events }: QueueCommit): void {
  const createdAt = newestInstant(events);
  for (const row of targetSets) {
    const stored = state.targetSets.get(row.digest);
    if (stored === undefined) state.targetSets.set(row.digest, { row, createdAt });
    else if (stored.createdAt < createdAt - TARGET_SET_RENEWAL_MS) stored.createdAt = createdAt;
  }
}

function dropOldUploads({ impactedTargets }: MemoryQueue, prNumber: number): void {
  for (const isOfFork of [false, true]) {
    const rows = [...impactedTargets.values()].filter((row) => row.prNumber === prNumber && row.isOfFork === isOfFork);
    rows.sort((a, b) => b.setAt - a.setAt || compareText(b.sha, a.sha));
    for (const row of rows.slice(KEPT_UPLOADS)) impactedTargets.delete(targetsKey(row));
  }
}

function removeUnusedTargetSets(state: MemoryState, before: Instant): number {
  const rows = [...state.queues.values()].flatMap((queue) => [
    ...queue.entries.values(),
    ...queue.impactedTargets.values(),
  ]);
  const used = new Set(rows.map((row) => row.targetsDigest));
  let removed = 0;
  for (const [digest, { createdAt }] of state.targetSets) {
    if (createdAt < before && !used.has(digest) && state.targetSets.delete(digest)) removed += 1;
  }
  return removed;
}

function putCandidate(state: MemoryState, queue: MemoryQueue, candidate: CandidateRow): void {
  const before = queue.candidates.get(candidate.number);
  if (before !== undefined) state.candidates.delete(before.id);
  queue.candidates.set(candidate.number, candidate);
  state.candidates.set(candidate.id, candidate);
}

function addTransition({ transitions, timelines }: MemoryQueue, transition: TransitionRow): void {
  transitions.push(transition);
  const timeline = timelines.get(transition.entryId);
  if (timeline === undefined) timelines.set(transition.entryId, [transition]);
  else timeline.push(transition);
}

function snapshot(
  state: MemoryState,
  queue: MemoryQueue | undefined,
  isWanted: (row: EntryRow | CandidateRow) => boolean,
): QueueSnapshot | undefined {
  if (queue === undefined) return undefined;
  const entries = [...queue.entries.values()].filter(isWanted);
  const digests = new Set(entries.map((entry) => entry.targetsDigest));
  const targetSets = [...digests].flatMap((digest) =>
    digest === null ? [] : (state.targetSets.get(digest)?.row ?? []),
  );
  const candidates = [...queue.candidates.values()].filter(isWanted);
  return { queue: queue.row, entries, candidates, targetSets };
}

function listEntries(queue: MemoryQueue | undefined, filter: EntryFilter): readonly EntryRow[] {
  if (queue === undefined) return [];
  const sorted = [...queue.entries.values()].sort((a, b) => b.submittedAt - a.submittedAt || compareText(a.id, b.id));
  const place = filter.afterId === undefined ? -1 : sorted.findIndex((entry) => entry.id === filter.afterId);
  if (filter.afterId !== undefined && place === -1) return [];
  const concluded = concludedWithin(queue.transitions, filter);
  return sorted
    .slice(place + 1)
    .filter((entry) => filter.state === undefined || entry.state === filter.state)
    .filter((entry) => concluded === undefined || concluded.has(entry.id))
    .slice(0, filter.limit);
}

function concludedWithin(transitions: readonly TransitionRow[], filter: EntryFilter): Set<string> | undefined {
  if (filter.concludedFrom === undefined && filter.concludedUntil === undefined) return undefined;
  const from = filter.concludedFrom ?? Number.NEGATIVE_INFINITY;
  const until = filter.concludedUntil ?? Number.POSITIVE_INFINITY;
  const within = transitions.filter(({ to, at }) => TERMINAL.has(to) && at >= from && at <= until);
  return new Set(within.map(({ entryId }) => entryId));
}

function compareTransitions(a: TransitionRow, b: TransitionRow): number {
  return a.at - b.at || a.version - b.version || a.ordinal - b.ordinal;
}

function targetsKey({ prNumber, sha }: Pick<ImpactedTargetsRow, 'prNumber' | 'sha'>): string {
  return `${prNumber} ${sha}`;
}

import { hash } from 'node:crypto';
import { type EntryState, isLive } from '../../engine/model/queue.ts';
import type { Instant } from '../../lib/clock.ts';
import { type Attributes, runOutside, type SpanRecord, type Tracing } from '../../lib/trace.ts';
import type { FeedRow } from '../../storage/feed.ts';
import type { CandidateRow, EventRow, QueueId, TransitionRow } from '../../storage/queues.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import type { LoadedQueue } from '../core/commit-draft.ts';
import { formatRef } from '../core/find-queue.ts';
import { decodeCandidate, decodeTransition } from '../core/queue-codec.ts';

const ENDS = /^pull_request\.(?:merged|failed|canceled)$/;
/** Stays that ended and whose traces are not made yet. More are left out: a trace is not worth the memory. */
const WAITING_LIMIT = 1_000;

/** Makes a trace of each stay that this server ends. Returns a function that waits until all are made. */
// SPEC M23
export function traceEntries(app: App, tracing: Tracing): () => Promise<void> {
  let waiting = 0;
  let last = Promise.resolve();
  const trace = async (loaded: LoadedQueue, end: End) => {
    try {
      for (const span of await readStay(app, loaded, end, tracing)) tracing.record(span);
    } catch (error) {
      app.log.warn({ err: error, pullRequest: end.prNumber }, 'could not make the trace of a pull request');
    } finally {
      waiting -= 1;
    }
  };
  app.queues.listen((loaded, { feed }) => {
    for (const { type, prNumber, version } of feed) {
      if (!ENDS.test(type) || prNumber === null || waiting >= WAITING_LIMIT) continue;
      waiting += 1;
      last = last.then(() => runOutside(() => trace(loaded, { prNumber, version })));
    }
  });
  return () => last;
}

/** The commit that ended a stay. */
interface End {
  readonly prNumber: number;
  readonly version: number;
}

async function readStay(
  app: App,
  { id, repositoryId, queue }: LoadedQueue,
  { prNumber, version }: End,
  tracing: Tracing,
): Promise<readonly SpanRecord[]> {
  const { queueRecords, feed } = app.store;
  const [entry, repository] = [
    await queueRecords.findEntry(id, prNumber),
    await app.directory.findRepositoryById(repositoryId),
  ];
  if (entry === undefined || repository === undefined) return [];
  const stay = findStay(await queueRecords.listTransitions(entry.id), version);
  if (stay === undefined || !tracing.isSampled(traceIdOf(entry.id, stay.number))) return [];
  // Events without a place would be missing in the list.
  await app.feed.sequence();
  const changes = await feed.list({
    ...{ organizationId: repository.organizationId, repositoryIds: [repositoryId], targetBranch: queue.branch },
    ...{ types: [...Object.keys(STOPS), ...Object.values(STOPS).flat()], until: stay.untilAt },
    ...{ order: 'DESC', limit: MOST_CHANGES },
  });
  return spansOf({
    ...{ entryId: entry.id, prNumber, branch: queue.branch, repository, stay },
    candidates: await readCandidates(app, stay.rows),
    landingAt: await findLanding(app, id, stay.rows),
    changes: changes.toReversed(),
  });
}

interface Stay {
  /** Counts the stays of the entry from 1. */
  readonly number: number;
  /** Oldest first; the last one ends the stay. */
  readonly rows: readonly TransitionRow[];
  readonly fromAt: Instant;
  readonly untilAt: Instant;
}

/** `newestFirst` may have later stays too. */
function findStay(newestFirst: readonly TransitionRow[], version: number): Stay | undefined {
  const rows = newestFirst.filter((row) => row.version <= version).reverse();
  const ends = rows.flatMap((row, index) => (isLive(row.to as EntryState) ? [] : [index]));
  const [end, before = -1] = [ends.at(-1), ends.at(-2)];
  if (end === undefined || end !== rows.length - 1 || rows[end]?.version !== version) return undefined;
  const own = rows.slice(before + 1);
  const instants = own.map(({ at }) => at);
  return { number: ends.length, rows: own, fromAt: Math.min(...instants), untilAt: Math.max(...instants) };
}

/** An entry that is tested again and again has more runs than anybody reads. */
const MOST_CANDIDATES = 50;
const MOST_CHANGES = 100;
const MOST_EVENTS = 500;

async function readCandidates({ store }: App, rows: readonly TransitionRow[]): Promise<readonly CandidateRow[]> {
  const ids = new Set(rows.map((row) => decodeTransition(row).testRunId).filter((id) => id !== undefined));
  const found = await Promise.all(
    [...ids].slice(-MOST_CANDIDATES).map((id) => store.queueRecords.findCandidateById(id)),
  );
  return found.filter((row) => row !== undefined);
}

/** The push begins after the pass. Undefined if the entry did not land, or too much happened in between. */
async function findLanding({ store }: App, id: QueueId, rows: readonly TransitionRow[]): Promise<Instant | undefined> {
  const end = rows.at(-1);
  const passed = rows.findLast(({ to }) => to === 'TESTS_PASSED') ?? rows.at(-2);
  if (end?.to !== 'MERGED' || passed === undefined) return undefined;
  const events = await store.queueRecords.listEvents(id, passed.version - 1, MOST_EVENTS);
  const isBegin = ({ kind, version }: EventRow) => kind === 'landing_begun' && version < end.version;
  return events.findLast(isBegin)?.at;
}

interface Facts {
  readonly entryId: string;
  readonly prNumber: number;
  readonly branch: string;
  readonly repository: Repository;
  readonly stay: Stay;
  readonly candidates: readonly CandidateRow[];
  readonly landingAt: Instant | undefined;
  /** Oldest first. */
  readonly changes: readonly FeedRow[];
}

/** Ids are hashes, so that all servers make the same ones, and a program can tell them from the entry's id. */
export function traceIdOf(entryId: string, stay: number): string {
  return hash('sha256', `${entryId}/${stay}`).slice(0, 32);
}

type Part = Pick<SpanRecord, 'name' | 'startMs' | 'endMs' | 'attributes'> & { readonly isError?: boolean };

function spansOf(facts: Facts): readonly SpanRecord[] {
  const { entryId, stay } = facts;
  const traceId = traceIdOf(entryId, stay.number);
  const spanId = (key: string) => hash('sha256', `${entryId}/${stay.number}/${key}`).slice(0, 16);
  const within = (at: Instant) => Math.min(Math.max(at, stay.fromAt), stay.untilAt);
  const { landingAt } = facts;
  const landing = { name: 'landing', endMs: stay.untilAt, attributes: {} };
  const landings: Part[] = landingAt === undefined ? [] : [{ ...landing, startMs: landingAt }];
  const parts = [...stateParts(stay), ...facts.candidates.map(testPart), ...stopParts(facts), ...landings];
  const children = parts.map(({ startMs, endMs, isError = false, ...part }, index) => ({
    ...{ ...part, traceId, spanId: spanId(`${index + 1}`), parentId: spanId('0'), kind: 'internal' as const, isError },
    ...{ startMs: within(startMs), endMs: Math.max(within(startMs), within(endMs)) },
  }));
  return [{ ...rootOf(facts), traceId, spanId: spanId('0') }, ...children];
}

function rootOf({ entryId, prNumber, branch, repository, stay }: Facts): Omit<SpanRecord, 'traceId' | 'spanId'> {
  const end = stay.rows.at(-1) as TransitionRow;
  const { reason } = decodeTransition(end);
  const isError = end.to === 'FAILED';
  return {
    ...{ name: 'pull request in queue', kind: 'internal', parentId: undefined, isError },
    ...{ startMs: stay.fromAt, endMs: stay.untilAt },
    attributes: {
      'sluice.repository': formatRef(repository),
      'sluice.queue': branch,
      'sluice.pull_request': prNumber,
      'sluice.entry.id': entryId,
      'sluice.stay': stay.number,
      'sluice.outcome': end.to,
      'sluice.reason': reason,
      ...(isError && { 'error.type': reason }),
    },
  };
}

const STATE_NAMES: Readonly<Record<string, string>> = {
  NOT_READY: 'not ready',
  PENDING: 'waiting',
  TESTING: 'testing',
  TESTS_PASSED: 'passed',
  PENDING_FAILURE: 'failure pending',
};

const SEARCH = 'search for a culprit';

/** States that lasted. A search is one part, whatever states it goes through; a row tells of the state before it. */
function stateParts({ rows }: Stay): Part[] {
  const parts: Part[] = [];
  for (const [index, next] of rows.slice(1).entries()) {
    const row = rows[index] as TransitionRow;
    const last = parts.at(-1);
    if (next.isBisection && last?.name === SEARCH) parts[parts.length - 1] = { ...last, endMs: next.at };
    else if (next.isBisection || next.at > row.at) parts.push(statePart(row, next));
  }
  return parts;
}

function statePart(row: TransitionRow, next: TransitionRow): Part {
  const { reason, prNumber: causedBy } = decodeTransition(row);
  const attributes: Attributes = { 'sluice.state': row.to, 'sluice.reason': reason, 'sluice.caused_by': causedBy };
  const name = next.isBisection ? SEARCH : (STATE_NAMES[row.to] ?? row.to);
  return { name, startMs: row.at, endMs: next.at, attributes };
}

function testPart(row: CandidateRow): Part {
  const { purpose, plannedAt, testingSince, pass, failure, endedAt, state, members } = decodeCandidate(row);
  const decidedAt = pass?.at ?? failure?.at ?? endedAt ?? Number.POSITIVE_INFINITY;
  return {
    ...{ name: 'test run', startMs: testingSince ?? plannedAt, endMs: decidedAt, isError: failure !== undefined },
    attributes: {
      'sluice.test_run.id': row.id,
      'sluice.test_run.kind': purpose.kind,
      'sluice.test_run.result': state,
      'sluice.test_run.pull_requests': members.length,
      'sluice.reason': failure?.reason,
      'sluice.failed_checks': failure?.checks,
    },
  };
}

/** Events after which a queue stands still, and those that end it. */
const STOPS: Readonly<Record<string, readonly string[]>> = {
  'queue.paused': ['queue.resumed', 'queue.drained'],
  'queue.held': ['queue.released'],
};
const STOP_NAMES: Readonly<Record<string, string>> = { 'queue.paused': 'queue paused', 'queue.held': 'queue held' };

function stopParts({ changes, stay }: Facts): Part[] {
  return changes.flatMap(({ type, at }, index) => {
    const ends = STOPS[type];
    if (ends === undefined) return [];
    const later = changes.slice(index + 1).find((change) => change.type === type || ends.includes(change.type));
    const endMs = later?.at ?? stay.untilAt;
    return endMs <= stay.fromAt ? [] : [{ name: STOP_NAMES[type] ?? type, startMs: at, endMs, attributes: {} }];
  });
}

import { assert } from '../../lib/assert.ts';
import { checkCommit } from '../check-commit.ts';
import { encodeWhole } from '../past-codec.ts';
import type { DeletedQueue, QueueId, QueueRecordStore, QueueSnapshot, QueueStore, TargetSetRow } from '../queues.ts';
import {
  all,
  allOf,
  execute,
  executeAll,
  findRow,
  first,
  listRows,
  type Operation,
  type SqlEngine,
  together,
} from './operation.ts';
import { toChange } from './past.ts';
import { commitQueue, commitStatements } from './queue-commit.ts';
import { listEntries, listEntriesStatements } from './queue-entries.ts';
import { queueStatements } from './queue-statements.ts';
import {
  fromEvent,
  fromQueue,
  toCandidate,
  toEntry,
  toEvent,
  toImpactedTargets,
  toQueue,
  toTransition,
} from './rows.ts';
import type { Schema } from './schema.ts';
import { callOf, type RowsCall, type StatementCompiler } from './statement.ts';

type QueueStatements = ReturnType<typeof queueStatements>;

export function createQueueStore(engine: SqlEngine, compiler: StatementCompiler): QueueStore {
  const statements = queueStatements(compiler);
  const commits = commitStatements(compiler);
  return {
    create: (queue, event, feed = []) =>
      engine.write(function* () {
        const row = { ...fromQueue(queue), deleted_at: null, last_at: event.at };
        if ((yield* execute(statements.insert, row)) === 0) return 'exists';
        const whole = encodeWhole({ body: queue.body, entries: [], candidates: [] }, event);
        yield* executeAll([
          ...commits.insertEvents([fromEvent(queue.id, event)]),
          ...commits.insertFeed(feed),
          ...commits.insertChange([toChange(queue.id, event, { body: whole, feed: null })]),
        ]);
        return 'created';
      }),
    commit: async (commit) => {
      checkCommit(commit);
      return engine.writeInTurn(() => commitQueue(commits, commit));
    },
    commitInTurn: (queueId, version, decide) =>
      engine.writeInTurn(function* () {
        const changed = yield* loadInTurn(statements, { queueId, version });
        if (changed === undefined) return 'gone';
        const commit = decide(changed.queue.version === version ? undefined : changed);
        if (commit === undefined) return 'committed';
        checkCommit(commit);
        assert((yield* commitQueue(commits, commit)) === 'committed', 'a locked queue was changed');
        return 'committed';
      }),
    delete: (queueId, expectedVersion, { at, by }, feed = []) =>
      engine.write(function* () {
        const version = expectedVersion + 1;
        const deleted = yield* execute(statements.delete, { queueId, expectedVersion, version, at });
        if (deleted === 0) return 'stale';
        const event = { version, at, kind: 'queue_deleted', body: JSON.stringify({ actor: by }) };
        yield* executeAll([...commits.insertEvents([fromEvent(queueId, event)]), ...commits.insertFeed(feed)]);
        return 'deleted';
      }),
    removeUnusedTargetSets: (before) => engine.write(() => execute(statements.removeUnusedTargetSets, { before })),
    findTargetSet: (digest) => engine.read(() => findRow(statements.findTargetSet, { digest }, (row) => ({ ...row }))),
    findImpactedTargets: (queueId, prNumber, sha) =>
      engine.read(() => findRow(statements.findImpactedTargets, { queueId, prNumber, sha }, toImpactedTargets)),
    ...queueReads(engine, statements),
  };
}

export function createQueueRecordStore(engine: SqlEngine, compiler: StatementCompiler): QueueRecordStore {
  const statements = queueStatements(compiler);
  const lists = listEntriesStatements(compiler);
  return {
    listEntries: (filter) => engine.snapshot(() => listEntries(lists, filter)),
    listEvents: (queueId, afterVersion, limit) =>
      engine.read(() => listRows(statements.listEvents, { queueId, afterVersion, limit }, toEvent)),
    ...rowReads(engine, statements),
    ...candidateReads(engine, statements),
  };
}

function toDeletedQueue(row: { readonly id: string; readonly at: number; readonly body: string }): DeletedQueue {
  const { actor } = JSON.parse(row.body) as { readonly actor: string };
  return { id: row.id as QueueId, at: row.at, by: actor };
}

function queueReads(engine: SqlEngine, statements: QueueStatements) {
  return {
    find: (repositoryId, branch) => engine.read(() => findRow(statements.find, { repositoryId, branch }, toQueue)),
    findDeleted: (repositoryId, branch) =>
      engine.read(() => findRow(statements.findDeleted, { repositoryId, branch }, toDeletedQueue)),
    listByRepository: (repositoryId) =>
      engine.read(() => listRows(statements.listByRepository, { repositoryId }, toQueue)),
    load: (queueId) => engine.snapshot(() => load(statements, queueId, liveRows(statements, queueId))),
    loadSince: (queueId, version) =>
      engine.snapshot(() => load(statements, queueId, rowsSince(statements, { queueId, version }))),
    findVersion: (queueId) =>
      engine.read(function* () {
        return (yield* first(statements.findVersion, { queueId }))?.version;
      }),
    findVersions: (queueIds) =>
      engine.read(function* () {
        const rows = yield* allOf(statements.findVersions({}, queueIds));
        return new Map(rows.map(({ id, version }) => [id as QueueId, version]));
      }),
  } satisfies Partial<QueueStore>;
}

type RowCalls = readonly [RowsCall<Schema['entries']>, RowsCall<Schema['candidates']>, RowsCall<TargetSetRow>];

function liveRows(statements: QueueStatements, queueId: string): RowCalls {
  return [
    callOf(statements.loadLiveEntries, { queueId }),
    callOf(statements.loadLiveCandidates, { queueId }),
    callOf(statements.loadLiveTargetSets, { queueId }),
  ];
}

function rowsSince(statements: QueueStatements, of: { queueId: string; version: number }): RowCalls {
  return [
    callOf(statements.loadEntriesSince, of),
    callOf(statements.loadCandidatesSince, of),
    callOf(statements.loadTargetSetsSince, of),
  ];
}

/** Other servers wait until this transaction ends. Statements behind the lock see all that was committed before. */
function* loadInTurn(
  statements: QueueStatements,
  of: { queueId: string; version: number },
): Operation<QueueSnapshot | undefined> {
  const [[queue], entries, candidates, targetSets] = yield* together<
    [Schema['queues'], Schema['entries'], Schema['candidates'], TargetSetRow]
  >(callOf(statements.lock, { queueId: of.queueId }), ...rowsSince(statements, of));
  if (queue === undefined) return undefined;
  return {
    queue: toQueue(queue),
    entries: entries.map(toEntry),
    candidates: candidates.map(toCandidate),
    targetSets: targetSets.map((row) => ({ ...row })),
  };
}

function* load(statements: QueueStatements, queueId: string, calls: RowCalls): Operation<QueueSnapshot | undefined> {
  const queue = yield* first(statements.load, { queueId });
  if (queue === undefined) return undefined;
  const [entries, candidates, targetSets] = yield* together(...calls);
  return {
    queue: toQueue(queue),
    entries: entries.map(toEntry),
    candidates: candidates.map(toCandidate),
    targetSets: targetSets.map((row) => ({ ...row })),
  };
}

function rowReads(engine: SqlEngine, statements: QueueStatements) {
  return {
    findEntry: (queueId, prNumber) => engine.read(() => findRow(statements.findEntry, { queueId, prNumber }, toEntry)),
    findEntries: (queueId, prNumbers) =>
      engine.read(function* () {
        const distinct = [...new Set(prNumbers)];
        return (yield* allOf(statements.findEntries({ queueId }, distinct))).map(toEntry);
      }),
    findHighestNumber: (queueId) =>
      engine.read(function* () {
        return (yield* first(statements.findHighestEntry, { queueId }))?.pr_number;
      }),
    listTransitions: (entryId) => engine.read(() => listRows(statements.listTransitions, { entryId }, toTransition)),
    listTransitionsWithin: ({ queueIds, from, until }) =>
      engine.read(function* () {
        const rows = yield* allOf(statements.listTransitionsWithin({ from, until }, [...new Set(queueIds)]));
        const transitions = rows.map(toTransition);
        // Each part of a long list of queues comes sorted; together they must be, too.
        return transitions.sort((a, b) => a.at - b.at || a.version - b.version || a.ordinal - b.ordinal);
      }),
    listConclusions: (window) => engine.read(() => listRows(statements.listConclusions, window, toTransition)),
    listDepartures: (query) =>
      engine.snapshot(function* () {
        const rows = yield* all(statements.listDepartures, query);
        const total = (yield* first(statements.countDepartures, query))?.total ?? 0;
        return { rows: rows.map(toTransition), total };
      }),
  } satisfies Partial<QueueRecordStore>;
}

function candidateReads(engine: SqlEngine, statements: QueueStatements) {
  return {
    findCandidate: (queueId, number) =>
      engine.read(() => findRow(statements.findCandidate, { queueId, number }, toCandidate)),
    findCandidateById: (id) => engine.read(() => findRow(statements.findCandidateById, { id }, toCandidate)),
    findCandidateBySha: (queueIds, sha) =>
      engine.read(function* () {
        const newest = yield* allOf(statements.findCandidatesBySha({ sha }, [...new Set(queueIds)]));
        // Of each part of a long list of queues there is one.
        return newest.map(toCandidate).sort((a, b) => b.createdAt - a.createdAt || b.number - a.number)[0];
      }),
    listCandidatesEnded: (window) => engine.read(() => listRows(statements.listCandidatesEnded, window, toCandidate)),
    listEndedCandidates: (queueId, limit) =>
      engine.read(function* () {
        return (yield* all(statements.listEndedCandidates, { queueId, limit })).map(toCandidate).reverse();
      }),
  } satisfies Partial<QueueRecordStore>;
}

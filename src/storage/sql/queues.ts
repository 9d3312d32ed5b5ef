import { checkCommit } from '../check-commit.ts';
import type { QueueSnapshot, QueueStore, TargetSetRow } from '../queues.ts';
import { all, allOf, execute, executeAll, first, type Operation, type SqlEngine, together } from './operation.ts';
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
import { callOf, type StatementCompiler } from './statement.ts';

type QueueStatements = ReturnType<typeof queueStatements>;

export function createQueueStore(engine: SqlEngine, compiler: StatementCompiler): QueueStore {
  const statements = queueStatements(compiler);
  const commits = commitStatements(compiler);
  const lists = listEntriesStatements(compiler);
  return {
    create: (queue, event) =>
      engine.write(function* () {
        if ((yield* execute(statements.insert, { ...fromQueue(queue), deleted_at: null })) === 0) return 'exists';
        yield* executeAll(commits.insertEvents([fromEvent(queue.id, event)]));
        return 'created';
      }),
    commit: async (commit) => {
      checkCommit(commit);
      return engine.write(() => commitQueue(commits, commit));
    },
    delete: (queueId, expectedVersion, at) =>
      engine.write(function* () {
        const deleted = yield* execute(statements.delete, { queueId, expectedVersion, at });
        return deleted === 0 ? 'stale' : 'deleted';
      }),
    removeUnusedTargetSets: (before) => engine.write(() => execute(statements.removeUnusedTargetSets, { before })),
    listEntries: (filter) => engine.snapshot(() => listEntries(lists, filter)),
    ...queueReads(engine, statements),
    ...rowReads(engine, statements),
    ...candidateReads(engine, statements),
  };
}

function queueReads(engine: SqlEngine, statements: QueueStatements) {
  return {
    find: (repositoryId, branch) =>
      engine.read(function* () {
        const row = yield* first(statements.find, { repositoryId, branch });
        return row && toQueue(row);
      }),
    listByRepository: (repositoryId) =>
      engine.read(function* () {
        return (yield* all(statements.listByRepository, { repositoryId })).map(toQueue);
      }),
    load: (queueId) => engine.snapshot(() => load(statements, queueId)),
    loadSince: (queueId, version) => engine.snapshot(() => loadSince(statements, queueId, version)),
    findVersion: (queueId) =>
      engine.read(function* () {
        return (yield* first(statements.findVersion, { queueId }))?.version;
      }),
    listEvents: (queueId, afterVersion, limit) =>
      engine.read(function* () {
        return (yield* all(statements.listEvents, { queueId, afterVersion, limit })).map(toEvent);
      }),
  } satisfies Partial<QueueStore>;
}

function* load(statements: QueueStatements, queueId: string): Operation<QueueSnapshot | undefined> {
  const queue = yield* first(statements.load, { queueId });
  if (queue === undefined) return undefined;
  const [entries, candidates, targetSets] = yield* together(
    callOf(statements.loadLiveEntries, { queueId }),
    callOf(statements.loadLiveCandidates, { queueId }),
    callOf(statements.loadLiveTargetSets, { queueId }),
  );
  return toSnapshot({ queue, entries, candidates, targetSets });
}

function* loadSince(
  statements: QueueStatements,
  queueId: string,
  version: number,
): Operation<QueueSnapshot | undefined> {
  const queue = yield* first(statements.load, { queueId });
  if (queue === undefined) return undefined;
  const [entries, candidates, targetSets] = yield* together(
    callOf(statements.loadEntriesSince, { queueId, version }),
    callOf(statements.loadCandidatesSince, { queueId, version }),
    callOf(statements.loadTargetSetsSince, { queueId, version }),
  );
  return toSnapshot({ queue, entries, candidates, targetSets });
}

function toSnapshot(rows: {
  readonly queue: Schema['queues'];
  readonly entries: readonly Schema['entries'][];
  readonly candidates: readonly Schema['candidates'][];
  readonly targetSets: readonly TargetSetRow[];
}): QueueSnapshot {
  return {
    queue: toQueue(rows.queue),
    entries: rows.entries.map(toEntry),
    candidates: rows.candidates.map(toCandidate),
    targetSets: rows.targetSets.map((row) => ({ ...row })),
  };
}

function rowReads(engine: SqlEngine, statements: QueueStatements) {
  return {
    findEntry: (queueId, prNumber) =>
      engine.read(function* () {
        const row = yield* first(statements.findEntry, { queueId, prNumber });
        return row && toEntry(row);
      }),
    findEntries: (queueId, prNumbers) =>
      engine.read(function* () {
        const distinct = [...new Set(prNumbers)];
        return (yield* allOf(statements.findEntries({ queueId }, distinct))).map(toEntry);
      }),
    findTargetSet: (digest) =>
      engine.read(function* () {
        const row = yield* first(statements.findTargetSet, { digest });
        return row && { ...row };
      }),
    findImpactedTargets: (queueId, prNumber, sha) =>
      engine.read(function* () {
        const row = yield* first(statements.findImpactedTargets, { queueId, prNumber, sha });
        return row && toImpactedTargets(row);
      }),
    listTransitions: (entryId) =>
      engine.read(function* () {
        return (yield* all(statements.listTransitions, { entryId })).map(toTransition);
      }),
    listTransitionsWithin: ({ queueIds, from, until }) =>
      engine.read(function* () {
        const rows = yield* allOf(statements.listTransitionsWithin({ from, until }, [...new Set(queueIds)]));
        const transitions = rows.map(toTransition);
        // Each part of a long list of queues comes sorted; together they must be, too.
        return transitions.sort((a, b) => a.at - b.at || a.version - b.version || a.ordinal - b.ordinal);
      }),
    listDepartures: (query) =>
      engine.snapshot(function* () {
        const rows = yield* all(statements.listDepartures, query);
        const total = (yield* first(statements.countDepartures, query))?.total ?? 0;
        return { rows: rows.map(toTransition), total };
      }),
  } satisfies Partial<QueueStore>;
}

function candidateReads(engine: SqlEngine, statements: QueueStatements) {
  return {
    findCandidate: (queueId, number) =>
      engine.read(function* () {
        const row = yield* first(statements.findCandidate, { queueId, number });
        return row && toCandidate(row);
      }),
    findCandidateById: (id) =>
      engine.read(function* () {
        const row = yield* first(statements.findCandidateById, { id });
        return row && toCandidate(row);
      }),
    findCandidateBySha: (queueIds, sha) =>
      engine.read(function* () {
        const newest = yield* allOf(statements.findCandidatesBySha({ sha }, [...new Set(queueIds)]));
        // Of each part of a long list of queues there is one.
        return newest.map(toCandidate).sort((a, b) => b.createdAt - a.createdAt || b.number - a.number)[0];
      }),
  } satisfies Partial<QueueStore>;
}

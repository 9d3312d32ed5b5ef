import { sql } from 'kysely';
import { newestInstant } from '../check-commit.ts';
import { keyOfEffect } from '../past.ts';
import { encodeChange } from '../past-codec.ts';
import {
  type EntryRow,
  type ImpactedTargetsRow,
  isOutranked,
  KEPT_UPLOADS,
  type QueueCommit,
  TARGET_SET_RENEWAL_MS,
} from '../queues.ts';
import { encodeFeed } from './feed-changes.ts';
import { feedInserts } from './feed-waiting.ts';
import { executeAll, first, type Operation } from './operation.ts';
import { toChange } from './past.ts';
import { endFacts, factStatements } from './past-facts.ts';
import { fromCandidate, fromEffect, fromEntry, fromEvent, fromImpactedTargets, fromTransition } from './rows.ts';
import type { Schema } from './schema.ts';
import { type Call, callOf, type StatementCompiler } from './statement.ts';

type CommitStatements = ReturnType<typeof commitStatements>;

/** The queue's row is moved first and only from the expected version: whoever comes second changes nothing. */
// SPEC D1
export function* commitQueue(statements: CommitStatements, commit: QueueCommit): Operation<'committed' | 'stale'> {
  const version = commit.expectedVersion + commit.events.length;
  const { queueId, expectedVersion, body } = commit;
  const newest = { version, at: newestInstant(commit.events) };
  const moved = yield* first(statements.advance, { queueId, expectedVersion, body, ...newest });
  if (moved === undefined) return 'stale';
  const entries = yield* rewriteBodies(statements, commit);
  const moment = { version, at: moved.last_at };
  yield* executeAll([
    ...rowCalls(statements, { ...commit, entries }, version),
    ...statements.insertChange([
      toChange(queueId, moment, { body: encodeChange(commit, moment), feed: encodeFeed(commit.feed ?? []) }),
    ]),
    ...endFacts(statements, queueId, { keys: (commit.doneEffects ?? []).map(keyOfEffect), at: moment.at }),
  ]);
  return 'committed';
}

/**
 * An entry without a transition has, as a rule, changed in nothing that is indexed: rewriting its body alone spares half
 * of the work. Answers the entries of which that is not so, or that are new.
 */
function* rewriteBodies(
  statements: CommitStatements,
  { entries, transitions }: QueueCommit,
): Operation<readonly EntryRow[]> {
  const moved = new Set(transitions.map((transition) => transition.prNumber));
  const still = entries.filter((entry) => !moved.has(entry.prNumber));
  if (still.length === 0) return entries;
  const results = yield still.map((entry) => callOf(statements.rewriteBody, fromEntry(entry)));
  const rewritten = new Set(still.filter((_, index) => results[index]?.changes === 1));
  return entries.filter((entry) => !rewritten.has(entry));
}

function rowCalls(statements: CommitStatements, commit: QueueCommit, version: number): Call[] {
  const { queueId } = commit;
  const calls = statements.insertEvents(commit.events.map((event) => fromEvent(queueId, event)));
  if (commit.entries.length > 0) calls.push(...statements.upsertEntries(commit.entries.map(fromEntry)));
  if (commit.candidates.length > 0) calls.push(...statements.upsertCandidates(commit.candidates.map(fromCandidate)));
  if (commit.transitions.length > 0) {
    calls.push(...statements.insertTransitions(commit.transitions.map(fromTransition)));
  }
  if (commit.effects.length > 0) {
    const rows = commit.effects.map((effect, ordinal) => fromEffect({ queueId, version, ordinal }, effect));
    calls.push(...statements.upsertEffects(rows));
  }
  for (const id of commit.doneEffects ?? []) calls.push(callOf(statements.deleteEffect, { queueId, id }));
  if (commit.targetSets.length > 0) calls.push(...statements.insertTargetSets(targetSetRows(commit)));
  if (commit.impactedTargets.length > 0) calls.push(...impactedTargetsCalls(statements, commit));
  return calls;
}

function impactedTargetsCalls(statements: CommitStatements, { queueId, impactedTargets }: QueueCommit): Call[] {
  // PostgreSQL refuses an upsert that meets a row twice: the one that would stay counts.
  const distinct = new Map<string, ImpactedTargetsRow>();
  for (const row of impactedTargets) {
    const key = `${row.prNumber} ${row.sha}`;
    if (!isOutranked(row, distinct.get(key))) distinct.set(key, row);
  }
  const calls = statements.upsertImpactedTargets([...distinct.values()].map(fromImpactedTargets));
  // Forks push as often as they like: what they say must not crowd out what others said.
  for (const isOfFork of [false, true]) {
    const added = impactedTargets.filter((row) => row.isOfFork === isOfFork);
    for (const prNumber of new Set(added.map((row) => row.prNumber))) {
      calls.push(callOf(statements.deleteOldUploads, { queueId, prNumber, isOfFork }));
    }
  }
  return calls;
}

/** Two queues may store the same sets at once; in one order they cannot wait for each other. */
function targetSetRows({ targetSets, events }: QueueCommit): Schema['target_sets'][] {
  const createdAt = newestInstant(events);
  const distinct = new Map(targetSets.map(({ digest, body }) => [digest, { digest, body, created_at: createdAt }]));
  return [...distinct.values()].sort((a, b) => (a.digest < b.digest ? -1 : 1));
}

export function commitStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    advance: advance(compiler),
    insertChange: compiler.insert('queue_changes'),
    ...factStatements(compiler),
    insertEvents: compiler.insert('queue_events'),
    rewriteBody: rewriteBody(compiler),
    insertTransitions: compiler.insert('transitions'),
    insertFeed: feedInserts(compiler),
    upsertEntries: compiler.upsert('entries', ['id'], ['queue_id', 'pr_number']),
    upsertCandidates: compiler.upsert('candidates', ['queue_id', 'number']),
    upsertEffects: upsertEffects(compiler),
    deleteEffect: compiler.statement<{ queueId: string; id: string }>()((param) =>
      builder.deleteFrom('effects').where('queue_id', '=', param('queueId')).where('id', '=', param('id')),
    ),
    insertTargetSets: insertTargetSets(compiler),
    upsertImpactedTargets: upsertImpactedTargets(compiler),
    deleteOldUploads: deleteOldUploads(compiler),
  };
}

type Advance = { queueId: string; expectedVersion: number; version: number; body: string; at: number };

/** Servers whose clocks differ, or a clock that was set back, must not turn the order of versions around. */
// SPEC Y3
function advance(compiler: StatementCompiler) {
  return compiler.statement<Advance>()((param) =>
    compiler.dialect.builder
      .updateTable('queues')
      .set({
        version: param('version'),
        body: param('body'),
        last_at: sql<number>`case when last_at > ${param('at')} then last_at else ${param('at')} end`,
      })
      .where('id', '=', param('queueId'))
      .where('version', '=', param('expectedVersion'))
      .where('deleted_at', 'is', null)
      .returning('last_at'),
  );
}

function rewriteBody(compiler: StatementCompiler) {
  return compiler.statement<Schema['entries']>()((param) =>
    compiler.dialect.builder
      .updateTable('entries')
      .set({ version: param('version'), body: param('body') })
      .where('id', '=', param('id'))
      .where('is_live', '=', param('is_live'))
      .where('state', '=', param('state'))
      .where('submitted_at', '=', param('submitted_at'))
      .where(sql<boolean>`targets_digest is not distinct from ${param('targets_digest')}`),
  );
}

/** Asked for again while it is not done: it keeps its place, and what became of it so far. */
function upsertEffects(compiler: StatementCompiler) {
  return compiler.insert('effects', (insert) =>
    insert.onConflict((conflict) =>
      conflict.columns(['queue_id', 'id']).doUpdateSet((eb) => ({
        kind: eb.ref('excluded.kind'),
        due_at: eb.ref('excluded.due_at'),
        body: eb.ref('excluded.body'),
      })),
    ),
  );
}

function insertTargetSets(compiler: StatementCompiler) {
  return compiler.insert('target_sets', (insert) =>
    insert.onConflict((conflict) =>
      conflict
        .column('digest')
        .doUpdateSet((eb) => ({ created_at: eb.ref('excluded.created_at') }))
        .where((eb) =>
          eb('target_sets.created_at', '<', eb('excluded.created_at', '-', sql.lit(TARGET_SET_RENEWAL_MS))),
        ),
    ),
  );
}

function deleteOldUploads(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return compiler.statement<{ queueId: string; prNumber: number; isOfFork: boolean }>()((param) => {
    const newest = builder
      .selectFrom('impacted_targets')
      .select('sha')
      .where('queue_id', '=', param('queueId'))
      .where('pr_number', '=', param('prNumber'))
      .where('is_of_fork', '=', param('isOfFork'))
      .orderBy('set_at', 'desc')
      .orderBy('sha', 'desc')
      .limit(KEPT_UPLOADS);
    return builder
      .deleteFrom('impacted_targets')
      .where('queue_id', '=', param('queueId'))
      .where('pr_number', '=', param('prNumber'))
      .where('is_of_fork', '=', param('isOfFork'))
      .where('sha', 'not in', newest);
  });
}

function upsertImpactedTargets(compiler: StatementCompiler) {
  return compiler.insert('impacted_targets', (insert) =>
    insert.onConflict((conflict) =>
      conflict
        .columns(['queue_id', 'pr_number', 'sha'])
        .doUpdateSet((eb) => ({
          body: eb.ref('excluded.body'),
          targets_digest: eb.ref('excluded.targets_digest'),
          set_at: eb.ref('excluded.set_at'),
          is_of_fork: eb.ref('excluded.is_of_fork'),
        }))
        // False is less than true: what a fork gives does not replace what anybody else gave.
        .where((eb) => eb('excluded.is_of_fork', '<=', eb.ref('impacted_targets.is_of_fork'))),
    ),
  );
}

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

/** An entry without a transition changed in nothing that is indexed: only its body is rewritten. Answers the others. */
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
  const { sql } = compiler;
  return {
    // SPEC Y3
    advance: sql(`
      update queues set version = :version, body = :body, last_at = case when last_at > :at then last_at else :at end
      where id = :queueId and version = :expectedVersion and deleted_at is null returning last_at`),
    insertChange: compiler.insert('queue_changes'),
    ...factStatements(compiler),
    insertEvents: compiler.insert('queue_events'),
    rewriteBody: sql(`
      update entries set version = :version, body = :body
      where id = :id and is_live = :is_live and state = :state and submitted_at = :submitted_at
      and targets_digest is not distinct from :targets_digest`),
    insertTransitions: compiler.insert('transitions'),
    insertFeed: feedInserts(compiler),
    upsertEntries: compiler.upsert('entries', ['id'], ['queue_id', 'pr_number']),
    upsertCandidates: compiler.upsert('candidates', ['queue_id', 'number']),
    /** Asked for again while it is not done: it keeps its place, and its attempts. */
    upsertEffects: compiler.insert(
      'effects',
      'on conflict (queue_id, id) do update set kind = excluded.kind, due_at = excluded.due_at, body = excluded.body',
    ),
    deleteEffect: sql('delete from effects where queue_id = :queueId and id = :id'),
    insertTargetSets: compiler.insert(
      'target_sets',
      `on conflict (digest) do update set created_at = excluded.created_at
      where target_sets.created_at < excluded.created_at - ${TARGET_SET_RENEWAL_MS}`,
    ),
    // False is less than true: a row of a fork replaces no other.
    upsertImpactedTargets: compiler.insert(
      'impacted_targets',
      `on conflict (queue_id, pr_number, sha) do update set
        body = excluded.body, targets_digest = excluded.targets_digest, set_at = excluded.set_at,
        is_of_fork = excluded.is_of_fork
      where excluded.is_of_fork <= impacted_targets.is_of_fork`,
    ),
    deleteOldUploads: sql(`
      delete from impacted_targets where ${OF_PULL_REQUEST} and sha not in (
        select sha from impacted_targets where ${OF_PULL_REQUEST} order by set_at desc, sha desc limit ${KEPT_UPLOADS})`),
  };
}

const OF_PULL_REQUEST = 'queue_id = :queueId and pr_number = :prNumber and is_of_fork = :isOfFork';

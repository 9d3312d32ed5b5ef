import type { TestUpkeepStore } from '../test-ingest.ts';
import { all, allOf, execute, executeAll, first, type Operation, type SqlEngine } from './operation.ts';
import { dropPartitions, partStatements, removeRetired } from './run-parts.ts';
import type { StatementCompiler } from './statement.ts';
import { UNCOUNTED_BATCHES, UNCOUNTED_RUNS } from './stored-runs.ts';
import { testCommitStatements } from './test-commit-statements.ts';
import { ownersOf, removeOwnerCalls } from './test-figures.ts';

type Statements = ReturnType<typeof forgetStatements>;

interface Old {
  readonly repositoryId: string;
  readonly before: number;
  readonly limit: number;
}

/** Each kind of row in a transaction of its own. Old runs are invisible at once, and retired with the rest of their part. */
// SPEC D12
export function createForget(engine: SqlEngine, compiler: StatementCompiler): TestUpkeepStore['forget'] {
  const statements = forgetStatements(compiler);
  return async (repositoryId, before, limit) => {
    const old = { repositoryId, before, limit };
    const removed = [
      await engine.write(() => retireParts(statements, old)),
      await engine.write(() => execute(statements.removeFailures, old)),
      await engine.write(() => execute(statements.removeEvents, old)),
      await engine.write(() => execute(statements.removeCheckResults, old)),
      await engine.write(() => forgetBatches(statements, old)),
      await engine.write(() => forgetTests(statements, old)),
    ];
    return removed.reduce((sum, count) => sum + count, 0);
  };
}

export function createPurge(engine: SqlEngine, compiler: StatementCompiler): TestUpkeepStore['purge'] {
  const statements = partStatements(compiler);
  return async (limit) => {
    await engine.write(() => dropPartitions(statements));
    return engine.write(() => removeRetired(statements, limit));
  };
}

/** The lock keeps a commit from adding runs to a part that is being retired. */
function* retireParts(statements: Statements, { repositoryId, before }: Old): Operation<number> {
  yield* first(statements.lockSequence, { repositoryId });
  return yield* execute(statements.retireOld, { repositoryId, before });
}

/** First their runs are told no more, whichever parts they are in; then their rows go, and how their runs failed. */
function* forgetBatches(statements: Statements, { repositoryId, before, limit }: Old): Operation<number> {
  const sequence = yield* first(statements.lockSequence, { repositoryId });
  if (sequence === undefined) return 0;
  const kept = yield* first(statements.findFirstKept, { repositoryId, before });
  const uncounted = yield* first(statements.findUncounted, { repositoryId });
  const firstKept = Math.min(kept?.seq ?? Number.POSITIVE_INFINITY, uncounted?.seq ?? Number.POSITIVE_INFINITY);
  const forgottenSeq = Math.max(sequence.forgotten_seq, Math.min(firstKept - 1, sequence.last_seq));
  if (forgottenSeq > sequence.forgotten_seq) {
    yield* execute(statements.advance, { ...sequence, forgotten_seq: forgottenSeq });
  }
  const texts = yield* execute(statements.removeTexts, { repositoryId, forgottenSeq, limit });
  return texts + (yield* execute(statements.removeBatches, { repositoryId, forgottenSeq, limit }));
}

/** Each is looked for among the runs that are not counted while the store is held. */
const TESTS_AT_ONCE = 250;

/** Takes a number where it removes any: whoever keeps them in memory reads them again. */
function* forgetTests(statements: Statements, old: Old): Operation<number> {
  const { repositoryId } = old;
  const sequence = yield* first(statements.lockSequence, { repositoryId });
  if (sequence === undefined) return 0;
  const idle = yield* all(statements.listIdle, { ...old, limit: Math.min(old.limit, TESTS_AT_ONCE) });
  if (idle.length === 0) return 0;
  // A test's stored state may lag behind runs that are not counted yet.
  const numbersOf = idle.map(({ no }) => no);
  const running = new Set(
    (yield* allOf(statements.listRunning({ repositoryId }, numbersOf))).map((row) => row.test_no),
  );
  const forgotten = idle.filter(({ no }) => !running.has(no));
  if (forgotten.length === 0) return 0;
  const ids = forgotten.map(({ id }) => id);
  const numbers = forgotten.map(({ no }) => no);
  const isQuarantined = forgotten.some(({ quarantined_at }) => quarantined_at !== null);
  yield* execute(statements.advance, {
    ...sequence,
    last_seq: sequence.last_seq + 1,
    test_count: sequence.test_count - forgotten.length,
    quarantine_version: sequence.quarantine_version + (isQuarantined ? 1 : 0),
  });
  for (const remove of [statements.removeStatesOf, statements.removeEventsOf])
    yield* allOf(remove({ repositoryId }, ids));
  yield* executeAll(removeOwnerCalls(statements, forgotten.flatMap(ownersOf)));
  for (const remove of statements.removeByNumber) yield* allOf(remove({ repositoryId }, numbers));
  yield* allOf(statements.removeTests({ repositoryId }, ids));
  return forgotten.length;
}

const OF_REPOSITORY = 'where repository_id = :repositoryId and';

export function forgetStatements(compiler: StatementCompiler) {
  const { sql } = compiler;
  const { lockSequence, advance, removeOwner } = testCommitStatements(compiler);
  return {
    lockSequence,
    advance,
    removeOwner,
    ...partStatements(compiler),
    ...removalStatements(compiler),
    removeFailures: sql(`
      delete from test_failures ${OF_REPOSITORY} (test_no, started_at, seq, ordinal) in (
        select test_no, started_at, seq, ordinal from test_failures ${OF_REPOSITORY} started_at < :before limit :limit)`),
    removeEvents: sql(`
      delete from test_events ${OF_REPOSITORY} (test_id, at, seq, ordinal) in (
        select test_id, at, seq, ordinal from test_events ${OF_REPOSITORY} at < :before limit :limit)`),
    removeCheckResults: sql(`
      delete from check_results ${OF_REPOSITORY} (candidate_id, check_name) in (
        select candidate_id, check_name from check_results ${OF_REPOSITORY} at < :before limit :limit)`),
    findFirstKept: sql(`select seq from test_batches ${OF_REPOSITORY} received_at >= :before order by seq limit 1`),
    removeTexts: sql(`
      delete from test_failure_texts ${OF_REPOSITORY} (seq, ordinal) in (
        select old.seq, old.ordinal from test_failure_texts as old
        where old.repository_id = :repositoryId and old.seq <= :forgottenSeq order by old.seq limit :limit)`),
    removeBatches: sql(`
      delete from test_batches ${OF_REPOSITORY} seq in (
        select seq from test_batches ${OF_REPOSITORY} seq <= :forgottenSeq order by seq limit :limit)`),
    findUncounted: sql(`select test_batches.seq ${UNCOUNTED_BATCHES} order by test_batches.seq limit 1`),
    listIdle: sql(`
      select tests.repository_id, tests.id, tests.no, tests.quarantined_at, tests.codeowners
      from test_memories cross join tests
      where test_memories.repository_id = :repositoryId and tests.repository_id = test_memories.repository_id
      and tests.no = test_memories.test_no
      and coalesce(test_memories.last_run_at, tests.first_seen_at) < :before
      and tests.quarantine_override = 'UNSPECIFIED' and tests.is_flagged = false and tests.ticket_url is null
      order by tests.no limit :limit`),
  };
}

function removalStatements({ sqlOfMany }: StatementCompiler) {
  return {
    listRunning: sqlOfMany(`select distinct runs.test_no ${UNCOUNTED_RUNS} and runs.test_no in (:items)`),
    removeStatesOf: sqlOfMany(`
      delete from test_states ${OF_REPOSITORY} kind in ('HEALTHY', 'FLAKY', 'BROKEN', 'QUARANTINED') and test_id in (:items)`),
    removeEventsOf: sqlOfMany(`delete from test_events ${OF_REPOSITORY} test_id in (:items)`),
    removeByNumber: [
      sqlOfMany(`delete from test_failures ${OF_REPOSITORY} test_no in (:items)`),
      sqlOfMany(`delete from test_memories ${OF_REPOSITORY} test_no in (:items)`),
      sqlOfMany(`delete from test_figures ${OF_REPOSITORY} test_no in (:items)`),
      sqlOfMany(`delete from test_pull_requests ${OF_REPOSITORY} test_no in (:items)`),
    ],
    removeTests: sqlOfMany(`delete from tests ${OF_REPOSITORY} id in (:items)`),
  };
}

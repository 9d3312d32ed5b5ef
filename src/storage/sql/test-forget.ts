import type { TestUpkeepStore } from '../test-ingest.ts';
import { all, allOf, execute, executeAll, first, type Operation, type SqlEngine } from './operation.ts';
import { dropPartitions, partStatements, removeRetired } from './run-parts.ts';
import type { StatementCompiler } from './statement.ts';
import { uncountedBatches, uncountedRuns } from './stored-runs.ts';
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

type Repository = { repositoryId: string };

export function forgetStatements(compiler: StatementCompiler) {
  const { lockSequence, advance, removeOwner } = testCommitStatements(compiler);
  return {
    lockSequence,
    advance,
    removeOwner,
    ...partStatements(compiler),
    ...oldRowStatements(compiler),
    ...uncountedStatements(compiler),
    ...batchStatements(compiler),
    ...idleStatements(compiler),
    ...removalStatements(compiler),
  };
}

function uncountedStatements(compiler: StatementCompiler) {
  return {
    findUncounted: compiler.statement<Repository>()((param) =>
      uncountedBatches(compiler, param).select('test_batches.seq').orderBy('test_batches.seq').limit(1),
    ),
    listRunning: compiler.list<Repository, number>()((param, testNos) =>
      uncountedRuns(compiler, param).where('runs.test_no', 'in', testNos).select('runs.test_no').distinct(),
    ),
  };
}

function oldRowStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    removeFailures: compiler.statement<Old>()((param) =>
      builder
        .deleteFrom('test_failures')
        .where('repository_id', '=', param('repositoryId'))
        .where(({ eb, refTuple, selectFrom }) =>
          eb(
            refTuple('test_no', 'started_at', 'seq', 'ordinal'),
            'in',
            selectFrom('test_failures as old')
              .select(['old.test_no', 'old.started_at', 'old.seq', 'old.ordinal'])
              .where('old.repository_id', '=', param('repositoryId'))
              .where('old.started_at', '<', param('before'))
              .limit(param('limit'))
              .$asTuple('test_no', 'started_at', 'seq', 'ordinal'),
          ),
        ),
    ),
    removeEvents: compiler.statement<Old>()((param) =>
      builder
        .deleteFrom('test_events')
        .where('repository_id', '=', param('repositoryId'))
        .where(({ eb, refTuple, selectFrom }) =>
          eb(
            refTuple('test_id', 'at', 'seq', 'ordinal'),
            'in',
            selectFrom('test_events as old')
              .select(['old.test_id', 'old.at', 'old.seq', 'old.ordinal'])
              .where('old.repository_id', '=', param('repositoryId'))
              .where('old.at', '<', param('before'))
              .limit(param('limit'))
              .$asTuple('test_id', 'at', 'seq', 'ordinal'),
          ),
        ),
    ),
    removeCheckResults: compiler.statement<Old>()((param) =>
      builder
        .deleteFrom('check_results')
        .where('repository_id', '=', param('repositoryId'))
        .where(({ eb, refTuple, selectFrom }) =>
          eb(
            refTuple('candidate_id', 'check_name'),
            'in',
            selectFrom('check_results as old')
              .select(['old.candidate_id', 'old.check_name'])
              .where('old.repository_id', '=', param('repositoryId'))
              .where('old.at', '<', param('before'))
              .limit(param('limit'))
              .$asTuple('candidate_id', 'check_name'),
          ),
        ),
    ),
  };
}

function batchStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    findFirstKept: compiler.statement<Repository & { before: number }>()((param) =>
      builder
        .selectFrom('test_batches')
        .select('seq')
        .where('repository_id', '=', param('repositoryId'))
        .where('received_at', '>=', param('before'))
        .orderBy('seq')
        .limit(1),
    ),
    removeTexts: compiler.statement<Repository & { forgottenSeq: number; limit: number }>()((param) =>
      builder
        .deleteFrom('test_failure_texts')
        .where('repository_id', '=', param('repositoryId'))
        .where(({ eb, refTuple, selectFrom }) =>
          eb(
            refTuple('seq', 'ordinal'),
            'in',
            selectFrom('test_failure_texts as old')
              .select(['old.seq', 'old.ordinal'])
              .where('old.repository_id', '=', param('repositoryId'))
              .where('old.seq', '<=', param('forgottenSeq'))
              .orderBy('old.seq')
              .limit(param('limit'))
              .$asTuple('seq', 'ordinal'),
          ),
        ),
    ),
    removeBatches: compiler.statement<Repository & { forgottenSeq: number; limit: number }>()((param) =>
      builder
        .deleteFrom('test_batches')
        .where('repository_id', '=', param('repositoryId'))
        .where('seq', 'in', ({ selectFrom }) =>
          selectFrom('test_batches as old')
            .select('old.seq')
            .where('old.repository_id', '=', param('repositoryId'))
            .where('old.seq', '<=', param('forgottenSeq'))
            .orderBy('old.seq')
            .limit(param('limit')),
        ),
    ),
  };
}

function idleStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    listIdle: compiler.statement<Old>()((param) =>
      builder
        .selectFrom('test_memories')
        .crossJoin('tests')
        .select(['tests.repository_id', 'tests.id', 'tests.no', 'tests.quarantined_at', 'tests.codeowners'])
        .where('test_memories.repository_id', '=', param('repositoryId'))
        .whereRef('tests.repository_id', '=', 'test_memories.repository_id')
        .whereRef('tests.no', '=', 'test_memories.test_no')
        .where((eb) => eb(eb.fn.coalesce('test_memories.last_run_at', 'tests.first_seen_at'), '<', param('before')))
        .where('tests.quarantine_override', '=', 'UNSPECIFIED')
        .where('tests.is_flagged', '=', false)
        .where('tests.ticket_url', 'is', null)
        .orderBy('tests.no')
        .limit(param('limit')),
    ),
  };
}

function removalStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  const numbered = ['test_failures', 'test_memories', 'test_figures', 'test_pull_requests'] as const;
  return {
    removeStatesOf: compiler.list<Repository, string>()((param, ids) =>
      builder
        .deleteFrom('test_states')
        .where('repository_id', '=', param('repositoryId'))
        .where('kind', 'in', ['HEALTHY', 'FLAKY', 'BROKEN', 'QUARANTINED'])
        .where('test_id', 'in', ids),
    ),
    removeEventsOf: compiler.list<Repository, string>()((param, ids) =>
      builder.deleteFrom('test_events').where('repository_id', '=', param('repositoryId')).where('test_id', 'in', ids),
    ),
    removeByNumber: numbered.map((table) =>
      compiler.list<Repository, number>()((param, numbers) =>
        builder.deleteFrom(table).where('repository_id', '=', param('repositoryId')).where('test_no', 'in', numbers),
      ),
    ),
    removeTests: compiler.list<Repository, string>()((param, ids) =>
      builder.deleteFrom('tests').where('repository_id', '=', param('repositoryId')).where('id', 'in', ids),
    ),
  };
}

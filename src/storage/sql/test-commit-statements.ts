import { partStatements } from './run-parts.ts';
import type {
  TestBatchesTable,
  TestEventsTable,
  TestFailuresTable,
  TestFailureTextsTable,
  TestMemoriesTable,
  TestSequencesTable,
  TestStatesTable,
  TestsTable,
} from './schema.ts';
import type { StatementCompiler } from './statement.ts';

export type CommitStatements = ReturnType<typeof testCommitStatements>;

type Repository = { repositoryId: string };
type CheckKey = Repository & { candidateId: string; check: string };

export function testCommitStatements(compiler: StatementCompiler) {
  return {
    ...sequenceStatements(compiler),
    ...partStatements(compiler),
    ...lookupStatements(compiler),
    ...stateStatements(compiler),
    ...rowStatements(compiler),
    ...checkStatements(compiler),
    ...ignoreStatements(compiler),
    upsertTests: upsertTests(compiler),
    upsertMemories: upsertMemories(compiler),
  };
}

function sequenceStatements(compiler: StatementCompiler) {
  const { builder, hasRowLocks } = compiler.dialect;
  return {
    createSequence: compiler.statement<Repository>()((param) =>
      builder
        .insertInto('test_sequences')
        .values({
          repository_id: param('repositoryId'),
          last_seq: 0,
          last_test_no: 0,
          quarantine_version: 0,
          forgotten_seq: 0,
          counted_seq: 0,
        })
        .onConflict((conflict) => conflict.column('repository_id').doNothing()),
    ),
    lockSequence: compiler.statement<Repository>()((param) =>
      builder
        .selectFrom('test_sequences')
        .selectAll()
        .where('repository_id', '=', param('repositoryId'))
        .$if(hasRowLocks, (query) => query.forUpdate()),
    ),
    advance: compiler.statement<TestSequencesTable>()((param) =>
      builder
        .updateTable('test_sequences')
        .set({
          last_seq: param('last_seq'),
          last_test_no: param('last_test_no'),
          quarantine_version: param('quarantine_version'),
          forgotten_seq: param('forgotten_seq'),
          counted_seq: param('counted_seq'),
        })
        .where('repository_id', '=', param('repository_id')),
    ),
  };
}

function lookupStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    findTests: compiler.list<Repository, string>()((param, ids) =>
      builder
        .selectFrom('tests')
        .select(['id', 'status', 'quarantined_at'])
        .where('repository_id', '=', param('repositoryId'))
        .where('id', 'in', ids),
    ),
    findMemorySeqs: compiler.list<Repository, number>()((param, numbers) =>
      builder
        .selectFrom('test_memories')
        .select(['test_no', 'seq'])
        .where('repository_id', '=', param('repositoryId'))
        .where('test_no', 'in', numbers),
    ),
  };
}

function stateStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  type Ended = Repository & { testId: string; kind: TestStatesTable['kind']; seq: number };
  return {
    endState: compiler.statement<Ended>()((param) =>
      builder
        .updateTable('test_states')
        .set({ to_seq: param('seq') })
        .where('repository_id', '=', param('repositoryId'))
        .where('kind', '=', param('kind'))
        .where('test_id', '=', param('testId'))
        .where('to_seq', 'is', null),
    ),
    insertStates: compiler.bulk<TestStatesTable>(['repository_id', 'test_id', 'kind', 'from_seq', 'to_seq'], (rows) =>
      builder.insertInto('test_states').values(rows),
    ),
  };
}

function rowStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    insertBatches: compiler.bulk<TestBatchesTable>(
      [
        ...(['repository_id', 'seq', 'upload_id', 'branch', 'sha', 'job', 'job_attempt', 'job_name'] as const),
        ...(['job_url', 'pr_number', 'flaw', 'is_proven', 'received_at', 'part', 'run_count'] as const),
      ],
      (rows) => builder.insertInto('test_batches').values(rows),
    ),
    insertFailures: compiler.bulk<TestFailuresTable>(
      [
        ...(['repository_id', 'test_no', 'started_at', 'seq', 'ordinal', 'pr_number'] as const),
        ...(['is_blocking', 'is_quarantined', 'failure_group', 'summary'] as const),
      ],
      (rows) => builder.insertInto('test_failures').values(rows),
    ),
    insertFailureTexts: compiler.bulk<TestFailureTextsTable>(
      ['repository_id', 'seq', 'ordinal', 'test_no', 'started_at', 'text', 'suite_path'],
      (rows) => builder.insertInto('test_failure_texts').values(rows),
    ),
    insertEvents: compiler.bulk<TestEventsTable>(
      ['repository_id', 'test_id', 'at', 'seq', 'ordinal', 'kind', 'actor', 'detail'],
      (rows) => builder.insertInto('test_events').values(rows),
    ),
  };
}

function ignoreStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  type OfUpload = { repositoryId: string; uploadId: string };
  return {
    ignoreUpload: compiler.statement<OfUpload & { ignored: string }>()((param) =>
      builder
        .updateTable('uploads')
        .set({ ignored: param('ignored'), status: 'SKIPPED', flaw: 'IGNORED', is_to_recount: true })
        .where('id', '=', param('uploadId'))
        .where('repository_id', '=', param('repositoryId'))
        .where('status', 'in', ['PROCESSED', 'SKIPPED'])
        .where('ignored', 'is', null),
    ),
    ignoreBatches: compiler.statement<OfUpload>()((param) =>
      builder
        .updateTable('test_batches')
        .set({ flaw: 'IGNORED' })
        .where('repository_id', '=', param('repositoryId'))
        .where('upload_id', '=', param('uploadId')),
    ),
  };
}

function checkStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    findCheckResults: compiler.statement<CheckKey>()((param) =>
      builder
        .selectFrom('check_results')
        .select('body')
        .where('repository_id', '=', param('repositoryId'))
        .where('candidate_id', '=', param('candidateId'))
        .where('check_name', '=', param('check')),
    ),
    upsertCheckResults: compiler.statement<CheckKey & { body: string; at: number }>()((param) =>
      builder
        .insertInto('check_results')
        .values({
          repository_id: param('repositoryId'),
          candidate_id: param('candidateId'),
          check_name: param('check'),
          body: param('body'),
          at: param('at'),
        })
        .onConflict((conflict) =>
          conflict
            .columns(['repository_id', 'candidate_id', 'check_name'])
            .doUpdateSet((eb) => ({ body: eb.ref('excluded.body'), at: eb.ref('excluded.at') })),
        ),
    ),
  };
}

function upsertTests(compiler: StatementCompiler) {
  const replaced = [
    ...(['name', 'variant', 'parent', 'classname', 'file', 'codeowners', 'first_seen_at', 'status'] as const),
    ...(['status_reason', 'status_at', 'quarantine_override', 'override', 'quarantined_at'] as const),
    ...(['is_flagged', 'labels', 'ticket_url', 'search_text'] as const),
  ];
  return compiler.bulk<TestsTable>(['repository_id', 'id', 'no', ...replaced], (rows) =>
    compiler.dialect.builder
      .insertInto('tests')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .columns(['repository_id', 'id'])
          .doUpdateSet((eb) => Object.fromEntries(replaced.map((column) => [column, eb.ref(`excluded.${column}`)]))),
      ),
  );
}

function upsertMemories(compiler: StatementCompiler) {
  const replaced = ['seq', 'next_check_at', 'settings_version', 'last_run_at', 'state'] as const;
  return compiler.bulk<TestMemoriesTable>(['repository_id', 'test_no', ...replaced], (rows) =>
    compiler.dialect.builder
      .insertInto('test_memories')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .columns(['repository_id', 'test_no'])
          .doUpdateSet((eb) => Object.fromEntries(replaced.map((column) => [column, eb.ref(`excluded.${column}`)]))),
      ),
  );
}

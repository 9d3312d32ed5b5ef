import { feedInserts } from './feed-waiting.ts';
import { partStatements } from './run-parts.ts';
import type { Schema } from './schema.ts';
import type { StatementCompiler } from './statement.ts';
import { figureStatements } from './test-figures.ts';

export type CommitStatements = ReturnType<typeof testCommitStatements>;

type Repository = { repositoryId: string };
type CheckKey = Repository & { candidateId: string; check: string };

export function testCommitStatements(compiler: StatementCompiler) {
  return {
    ...sequenceStatements(compiler),
    ...partStatements(compiler),
    ...figureStatements(compiler),
    ...lookupStatements(compiler),
    ...stateStatements(compiler),
    ...rowStatements(compiler),
    ...checkStatements(compiler),
    ...ignoreStatements(compiler),
  };
}

export function sequenceStatements(compiler: StatementCompiler) {
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
          test_count: 0,
          names_version: 0,
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
    advance: compiler.statement<Schema['test_sequences']>()((param) =>
      builder
        .updateTable('test_sequences')
        .set({
          last_seq: param('last_seq'),
          last_test_no: param('last_test_no'),
          quarantine_version: param('quarantine_version'),
          forgotten_seq: param('forgotten_seq'),
          counted_seq: param('counted_seq'),
          test_count: param('test_count'),
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
        .select(['id', 'no', 'status', 'quarantined_at', 'codeowners'])
        .where('repository_id', '=', param('repositoryId'))
        .where('id', 'in', ids),
    ),
    findMemories: compiler.list<Repository, number>()((param, numbers) =>
      builder
        .selectFrom('test_memories')
        .select(['test_no', 'seq', 'days'])
        .where('repository_id', '=', param('repositoryId'))
        .where('test_no', 'in', numbers),
    ),
  };
}

function stateStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  type Ended = Repository & { testId: string; kind: Schema['test_states']['kind']; seq: number };
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
    insertStates: compiler.insert('test_states'),
  };
}

function rowStatements(compiler: StatementCompiler) {
  return {
    insertBatches: compiler.insert('test_batches'),
    insertFailures: compiler.insert('test_failures'),
    insertFailureTexts: compiler.insert('test_failure_texts'),
    insertEvents: compiler.insert('test_events'),
    insertFeed: feedInserts(compiler),
    upsertTests: compiler.upsert('tests', ['repository_id', 'id'], ['no']),
    upsertMemories: compiler.upsert('test_memories', ['repository_id', 'test_no'], ['days']),
    upsertCounted: compiler.upsert('test_memories', ['repository_id', 'test_no']),
    upsertCheckResults: compiler.upsert('check_results', ['repository_id', 'candidate_id', 'check_name']),
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
  };
}

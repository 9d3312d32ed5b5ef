import { feedInserts } from './feed-waiting.ts';
import { partStatements } from './run-parts.ts';
import type { StatementCompiler } from './statement.ts';
import { figureStatements } from './test-figures.ts';

export type CommitStatements = ReturnType<typeof testCommitStatements>;

export function testCommitStatements(compiler: StatementCompiler) {
  const { sql, sqlOfMany } = compiler;
  return {
    ...sequenceStatements(compiler),
    ...partStatements(compiler),
    ...figureStatements(compiler),
    findTests: sqlOfMany(`
      select id, no, status, quarantined_at, codeowners from tests
      where repository_id = :repositoryId and id in (:items)`),
    findMemories: sqlOfMany(`
      select test_no, seq, days from test_memories where repository_id = :repositoryId and test_no in (:items)`),
    endState: sql(`
      update test_states set to_seq = :seq
      where repository_id = :repositoryId and kind = :kind and test_id = :testId and to_seq is null`),
    insertStates: compiler.insert('test_states'),
    insertBatches: compiler.insert('test_batches'),
    insertFailures: compiler.insert('test_failures'),
    insertFailureTexts: compiler.insert('test_failure_texts'),
    insertEvents: compiler.insert('test_events'),
    insertFeed: feedInserts(compiler),
    upsertTests: compiler.upsert('tests', ['repository_id', 'id'], ['no']),
    upsertMemories: compiler.upsert('test_memories', ['repository_id', 'test_no'], ['days']),
    upsertCounted: compiler.upsert('test_memories', ['repository_id', 'test_no']),
    upsertCheckResults: compiler.upsert('check_results', ['repository_id', 'candidate_id', 'check_name']),
    findCheckResults: sql(`
      select body from check_results
      where repository_id = :repositoryId and candidate_id = :candidateId and check_name = :check`),
    ignoreUpload: sql(`
      update uploads set ignored = :ignored, status = 'SKIPPED', flaw = 'IGNORED', is_to_recount = true
      where id = :uploadId and repository_id = :repositoryId and status in ('PROCESSED', 'SKIPPED')
      and ignored is null`),
    ignoreBatches: sql(`
      update test_batches set flaw = 'IGNORED' where repository_id = :repositoryId and upload_id = :uploadId`),
  };
}

export function sequenceStatements({ sql }: StatementCompiler) {
  return {
    createSequence: sql(`
      insert into test_sequences (repository_id, last_seq, last_test_no, quarantine_version, forgotten_seq,
        counted_seq, test_count, names_version)
      values (:repositoryId, 0, 0, 0, 0, 0, 0, 0) on conflict (repository_id) do nothing`),
    lockSequence: sql('select * from test_sequences where repository_id = :repositoryId for update'),
    advance: sql(`
      update test_sequences set last_seq = :last_seq, last_test_no = :last_test_no,
        quarantine_version = :quarantine_version, forgotten_seq = :forgotten_seq, counted_seq = :counted_seq,
        test_count = :test_count
      where repository_id = :repository_id`),
  };
}

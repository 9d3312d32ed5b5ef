import type { KnownTest, LoadedTests } from '../test-ingest.ts';
import { all, allOf, first, type Operation } from './operation.ts';
import type { Schema } from './schema.ts';
import type { StatementCompiler } from './statement.ts';
import { toMemory, toTest } from './test-rows.ts';

type LoadStatements = ReturnType<typeof loadStatements>;
type KnownRow = Schema['tests'] & Omit<Schema['test_memories'], 'repository_id' | 'days'>;

export function* load(
  statements: LoadStatements,
  repositoryId: string,
  testIds: readonly string[],
): Operation<LoadedTests> {
  const ids = [...new Set(testIds)];
  return yield* withNumbers(statements, repositoryId, yield* allOf(statements.loadTests({ repositoryId }, ids)));
}

export function* loadRange(
  statements: LoadStatements,
  range: { readonly repositoryId: string; readonly fromNo: number; readonly toNo: number },
): Operation<LoadedTests> {
  return yield* withNumbers(statements, range.repositoryId, yield* all(statements.loadRange, range));
}

function* withNumbers(
  statements: LoadStatements,
  repositoryId: string,
  rows: readonly KnownRow[],
): Operation<LoadedTests> {
  const sequence = yield* first(statements.findNumbers, { repositoryId });
  return {
    seq: sequence?.last_seq ?? 0,
    nextTestNo: (sequence?.last_test_no ?? 0) + 1,
    known: rows.map((row): KnownTest => ({ test: toTest(row), memory: toMemory(row) })),
  };
}

/** The order of the joins is kept by SQLite: it begins with the few tests that are asked for. */
const KNOWN = `select tests.*, test_memories.test_no, test_memories.seq, test_memories.next_check_at,
    test_memories.settings_version, test_memories.last_run_at, test_memories.state
  from tests cross join test_memories
  where test_memories.repository_id = tests.repository_id and test_memories.test_no = tests.no
  and tests.repository_id = :repositoryId and` as const;

export function loadStatements({ sql, sqlOfMany }: StatementCompiler) {
  return {
    countTests: sql('select test_count as count from test_sequences where repository_id = :repositoryId'),
    findNumbers: sql('select last_seq, last_test_no from test_sequences where repository_id = :repositoryId'),
    loadTests: sqlOfMany(`${KNOWN} tests.id in (:items)`),
    loadRange: sql(`${KNOWN} tests.no >= :fromNo and tests.no < :toNo order by tests.no`),
  };
}

const OF_MEMORIES = `select tests.id from test_memories cross join tests
  where test_memories.repository_id = :repositoryId and tests.repository_id = test_memories.repository_id
  and tests.no = test_memories.test_no and` as const;

export function dueStatements({ sql }: StatementCompiler) {
  return {
    findFirstDue: sql(`
      select repository_id from test_memories where next_check_at is not null and next_check_at <= :now
      order by next_check_at limit 1`),
    listDue: sql(`
      ${OF_MEMORIES} test_memories.next_check_at is not null and test_memories.next_check_at <= :now
      order by test_memories.next_check_at, test_memories.test_no limit :limit`),
    listBehind: sql(`
      ${OF_MEMORIES} test_memories.settings_version <> :version order by test_memories.test_no limit :limit`),
  };
}

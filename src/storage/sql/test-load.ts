import type { KnownTest, LoadedTests } from '../test-ingest.ts';
import { all, allOf, first, type Operation } from './operation.ts';
import type { Schema } from './schema.ts';
import type { StatementCompiler } from './statement.ts';
import { MEMORY_COLUMNS, toMemory, toTest } from './test-rows.ts';

type LoadStatements = ReturnType<typeof loadStatements>;
type Repository = { repositoryId: string };
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

export function loadStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  /** The order of the joins is kept by SQLite: it begins with the few tests that are asked for. */
  const known = builder
    .selectFrom('tests')
    .crossJoin('test_memories')
    .whereRef('test_memories.repository_id', '=', 'tests.repository_id')
    .whereRef('test_memories.test_no', '=', 'tests.no')
    .selectAll('tests')
    .select(MEMORY_COLUMNS.map((column) => `test_memories.${column}` as const));
  return {
    countTests: compiler.statement<Repository>()((param) =>
      builder
        .selectFrom('test_sequences')
        .select('test_count as count')
        .where('repository_id', '=', param('repositoryId')),
    ),
    findNumbers: compiler.statement<Repository>()((param) =>
      builder
        .selectFrom('test_sequences')
        .select(['last_seq', 'last_test_no'])
        .where('repository_id', '=', param('repositoryId')),
    ),
    loadTests: compiler.list<Repository, string>()((param, ids) =>
      known.where('tests.repository_id', '=', param('repositoryId')).where('tests.id', 'in', ids),
    ),
    loadRange: compiler.statement<Repository & { fromNo: number; toNo: number }>()((param) =>
      known
        .where('tests.repository_id', '=', param('repositoryId'))
        .where('tests.no', '>=', param('fromNo'))
        .where('tests.no', '<', param('toNo'))
        .orderBy('tests.no'),
    ),
  };
}

export function dueStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    findFirstDue: compiler.statement<{ now: number }>()((param) =>
      builder
        .selectFrom('test_memories')
        .select('repository_id')
        .where('next_check_at', 'is not', null)
        .where('next_check_at', '<=', param('now'))
        .orderBy('next_check_at')
        .limit(1),
    ),
    listDue: compiler.statement<Repository & { now: number; limit: number }>()((param) =>
      builder
        .selectFrom('test_memories')
        .crossJoin('tests')
        .select('tests.id')
        .where('test_memories.repository_id', '=', param('repositoryId'))
        .where('test_memories.next_check_at', 'is not', null)
        .where('test_memories.next_check_at', '<=', param('now'))
        .whereRef('tests.repository_id', '=', 'test_memories.repository_id')
        .whereRef('tests.no', '=', 'test_memories.test_no')
        .orderBy('test_memories.next_check_at')
        .orderBy('test_memories.test_no')
        .limit(param('limit')),
    ),
    listBehind: compiler.statement<Repository & { version: number; limit: number }>()((param) =>
      builder
        .selectFrom('test_memories')
        .crossJoin('tests')
        .select('tests.id')
        .where('test_memories.repository_id', '=', param('repositoryId'))
        .where('test_memories.settings_version', '<>', param('version'))
        .whereRef('tests.repository_id', '=', 'test_memories.repository_id')
        .whereRef('tests.no', '=', 'test_memories.test_no')
        .orderBy('test_memories.test_no')
        .limit(param('limit')),
    ),
  };
}

import { assert } from '../../lib/assert.ts';
import type { TestChange, TestRow } from '../tests.ts';
import { allOf, executeAll, first, type Operation } from './operation.ts';
import { fromTest, fromTestRun } from './rows.ts';
import type { TestRunsTable, TestStatesTable, TestsTable } from './schema.ts';
import { type Call, callOf, type StatementCompiler } from './statement.ts';

type ApplyStatements = ReturnType<typeof applyStatements>;
type Kind = TestStatesTable['kind'];
type KnownTest = Pick<TestsTable, 'status' | 'quarantined_at'>;

/**
 * The counter's row stays locked until the transaction ends, so the numbers of a repository become visible in their
 * order: whoever sees a watermark sees everything up to it.
 */
export function* applyChange(statements: ApplyStatements, change: TestChange): Operation<number> {
  const { repositoryId } = change;
  const seq = (yield* first(statements.nextSequence, { repositoryId }))?.last_seq;
  assert(seq !== undefined, 'an upsert answers its row');
  const tests = lastOfEach(change);
  const known = new Map<string, KnownTest>();
  for (const row of yield* allOf(statements.findTests({ repositoryId }, [...tests.keys()]))) known.set(row.id, row);
  yield* executeAll([
    ...statements.upsertTests([...tests.values()].map(fromTest)),
    ...stateCalls(statements, { tests, known, repositoryId, seq }),
    ...statements.insertRuns(change.runs.map((run) => fromTestRun({ repositoryId, seq }, run))),
  ]);
  return seq;
}

function lastOfEach(change: TestChange): ReadonlyMap<string, TestRow> {
  const tests = new Map<string, TestRow>();
  for (const test of change.tests) {
    assert(test.repositoryId === change.repositoryId, `test ${test.id} belongs to another repository`);
    tests.set(test.id, test);
  }
  return tests;
}

interface StateChanges {
  readonly tests: ReadonlyMap<string, TestRow>;
  readonly known: ReadonlyMap<string, KnownTest>;
  readonly repositoryId: string;
  readonly seq: number;
}

/** Ends the intervals of the kinds a test is no longer of, and opens those of the kinds it has become. */
function stateCalls(statements: ApplyStatements, { tests, known, repositoryId, seq }: StateChanges): Call[] {
  const opened: TestStatesTable[] = [];
  const ended: Call[] = [];
  for (const [id, test] of tests) {
    const before = known.get(id);
    const kindsBefore = before === undefined ? [] : kindsOf(before.status, before.quarantined_at);
    const kinds = kindsOf(test.status, test.quarantinedAt);
    for (const kind of kindsBefore) {
      if (!kinds.includes(kind)) ended.push(callOf(statements.endState, { repositoryId, testId: id, kind, seq }));
    }
    for (const kind of kinds) {
      if (kindsBefore.includes(kind)) continue;
      opened.push({ repository_id: repositoryId, test_id: id, kind, from_seq: seq, to_seq: null });
    }
  }
  return [...ended, ...statements.insertStates(opened)];
}

function kindsOf(status: TestRow['status'], quarantinedAt: number | null): Kind[] {
  return quarantinedAt === null ? [status] : [status, 'QUARANTINED'];
}

export function applyStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    nextSequence: compiler.statement<{ repositoryId: string }>()((param) =>
      builder
        .insertInto('test_sequences')
        .values({ repository_id: param('repositoryId'), last_seq: 1 })
        .onConflict((conflict) =>
          conflict.column('repository_id').doUpdateSet((eb) => ({ last_seq: eb('test_sequences.last_seq', '+', 1) })),
        )
        .returning('last_seq'),
    ),
    findTests: compiler.list<{ repositoryId: string }, string>()((param, ids) =>
      builder
        .selectFrom('tests')
        .select(['id', 'status', 'quarantined_at'])
        .where('repository_id', '=', param('repositoryId'))
        .where('id', 'in', ids),
    ),
    endState: compiler.statement<{ repositoryId: string; testId: string; kind: Kind; seq: number }>()((param) =>
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
    upsertTests: upsertTests(compiler),
    insertRuns: insertRuns(compiler),
  };
}

function upsertTests(compiler: StatementCompiler) {
  const replaced = [
    'name',
    'variant',
    'parent',
    'classname',
    'file',
    'codeowners',
    'first_seen_at',
    'status',
    'status_reason',
    'status_at',
    'quarantine_override',
    'quarantined_at',
    'ticket_url',
  ] as const;
  return compiler.bulk<TestsTable>(['repository_id', 'id', ...replaced], (rows) =>
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

function insertRuns(compiler: StatementCompiler) {
  return compiler.bulk<TestRunsTable>(
    [
      'repository_id',
      'test_id',
      'seq',
      'started_at',
      'conclusion',
      'duration_ms',
      'branch',
      'sha',
      'pr_number',
      'is_blocking',
      'failure_group',
      'failure_summary',
    ],
    (rows) => compiler.dialect.builder.insertInto('test_runs').values(rows),
  );
}

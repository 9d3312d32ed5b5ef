import { sql } from 'kysely';
import type { TestListQuery } from '../tests.ts';
import type { TestStatesTable, TestsTable } from './schema.ts';
import type { Placeholders, StatementCompiler } from './statement.ts';

export interface PageRow extends TestsTable {
  /** Rows of the whole list. */
  readonly total: number;
}

type KindArgs = TestListQuery & { readonly kind: TestStatesTable['kind'] };
type FailingArgs = TestListQuery & { readonly from: number; readonly until: number };

/**
 * A page is cut from narrow rows before the tests join it. The joins are cross joins, because SQLite keeps their order
 * and would otherwise walk through all tests of the repository.
 */
export function listStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    findSequence: compiler.statement<{ repositoryId: string }>()((param) =>
      builder.selectFrom('test_sequences').select('last_seq').where('repository_id', '=', param('repositoryId')),
    ),
    find: compiler.statement<{ repositoryId: string; testId: string }>()((param) =>
      builder
        .selectFrom('tests')
        .selectAll()
        .where('repository_id', '=', param('repositoryId'))
        .where('id', '=', param('testId')),
    ),
    ...kindStatements(compiler),
    ...failingStatements(compiler),
  };
}

function kindStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  const ofKind = (param: Placeholders<KindArgs>) =>
    builder
      .selectFrom('test_states')
      .where('test_states.repository_id', '=', param('repositoryId'))
      .where('test_states.kind', '=', param('kind'))
      .where('test_states.from_seq', '<=', param('watermark'))
      .where((eb) => eb.or([eb('test_states.to_seq', 'is', null), eb('test_states.to_seq', '>', param('watermark'))]));
  return {
    listOfKind: compiler.statement<KindArgs>()((param) =>
      builder
        .selectFrom(
          ofKind(param)
            .select((eb) => ['test_states.test_id', eb.fn.countAll<number>().over().as('total')])
            .orderBy('test_states.test_id')
            .limit(param('limit'))
            .offset(param('offset'))
            .as('page'),
        )
        .crossJoin('tests')
        .where('tests.repository_id', '=', param('repositoryId'))
        .whereRef('tests.id', '=', 'page.test_id')
        .selectAll('tests')
        .select('page.total')
        .orderBy('tests.id'),
    ),
    countOfKind: compiler.statement<KindArgs>()((param) =>
      ofKind(param).select((eb) => eb.fn.countAll<number>().as('total')),
    ),
  };
}

function failingStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  const failures = (param: Placeholders<FailingArgs>) =>
    builder
      .selectFrom('test_runs')
      .where('repository_id', '=', param('repositoryId'))
      // A literal, as in the partial index that serves this.
      .where(sql<boolean>`conclusion = 'FAILURE'`)
      .where('started_at', '>=', param('from'))
      .where('started_at', '<', param('until'))
      .where('seq', '<=', param('watermark'));
  return {
    listFailing: compiler.statement<FailingArgs>()((param) =>
      builder
        .selectFrom(
          builder
            .selectFrom(
              failures(param)
                .select((eb) => ['test_id', eb.fn.countAll<number>().as('failures')])
                .groupBy('test_id')
                .as('failing'),
            )
            .select((eb) => ['test_id', 'failures', eb.fn.countAll<number>().over().as('total')])
            .orderBy('failures', 'desc')
            .orderBy('test_id')
            .limit(param('limit'))
            .offset(param('offset'))
            .as('page'),
        )
        .crossJoin('tests')
        .where('tests.repository_id', '=', param('repositoryId'))
        .whereRef('tests.id', '=', 'page.test_id')
        .selectAll('tests')
        .select('page.total')
        .orderBy('page.failures', 'desc')
        .orderBy('tests.id'),
    ),
    countFailing: compiler.statement<FailingArgs>()((param) =>
      failures(param).select((eb) => eb.fn.count<number>('test_id').distinct().as('total')),
    ),
  };
}

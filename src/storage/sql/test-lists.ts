import { sql } from 'kysely';
import type { TestListQuery } from '../tests.ts';
import type { Schema } from './schema.ts';
import type { Placeholders, StatementCompiler } from './statement.ts';

/** `total`: rows of the whole list. */
export type PageRow = Schema['tests'] & { readonly total: number };

type KindArgs = TestListQuery & { readonly kind: Schema['test_states']['kind'] };
type FailingArgs = TestListQuery & { readonly from: number; readonly until: number };
type EventArgs = TestListQuery & { readonly testId: string };

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
    search: compiler.statement<{ repositoryId: string; pattern: string; limit: number }>()((param) =>
      builder
        .selectFrom('tests')
        .selectAll()
        .where('repository_id', '=', param('repositoryId'))
        .where(sql<boolean>`search_text like ${param('pattern')} escape '!'`)
        .orderBy('name')
        .orderBy('id')
        .limit(param('limit')),
    ),
    ...quarantineStatements(compiler),
    ...eventStatements(compiler),
    ...kindStatements(compiler),
    ...failingStatements(compiler),
  };
}

function quarantineStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    findQuarantineVersion: compiler.statement<{ repositoryId: string }>()((param) =>
      builder
        .selectFrom('test_sequences')
        .select('quarantine_version')
        .where('repository_id', '=', param('repositoryId')),
    ),
    listQuarantinedIds: compiler.statement<{ repositoryId: string }>()((param) =>
      builder
        .selectFrom('test_states')
        .select('test_id')
        .where('repository_id', '=', param('repositoryId'))
        .where('kind', '=', 'QUARANTINED')
        .where('to_seq', 'is', null)
        .orderBy('test_id'),
    ),
  };
}

function eventStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  const events = (param: Placeholders<EventArgs>) =>
    builder
      .selectFrom('test_events')
      .where('repository_id', '=', param('repositoryId'))
      .where('test_id', '=', param('testId'))
      .where('seq', '<=', param('watermark'));
  return {
    listEvents: compiler.statement<EventArgs>()((param) =>
      events(param)
        .selectAll()
        .orderBy('at', 'desc')
        .orderBy('seq', 'desc')
        .orderBy('ordinal', 'desc')
        .limit(param('limit'))
        .offset(param('offset')),
    ),
    countEvents: compiler.statement<EventArgs>()((param) =>
      events(param).select((eb) => eb.fn.countAll<number>().as('total')),
    ),
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
      .selectFrom('test_failures')
      .where('repository_id', '=', param('repositoryId'))
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
                .select(({ fn }) => [
                  'test_no',
                  fn.countAll<number>().as('failures'),
                  fn.countAll<number>().over().as('total'),
                ])
                .groupBy('test_no')
                .as('failing'),
            )
            .crossJoin('tests')
            .where('tests.repository_id', '=', param('repositoryId'))
            .whereRef('tests.no', '=', 'failing.test_no')
            .select(['tests.id', 'failing.failures', 'failing.total'])
            .orderBy('failing.failures', 'desc')
            .orderBy('tests.id')
            .limit(param('limit'))
            .offset(param('offset'))
            .as('page'),
        )
        .crossJoin('tests')
        .where('tests.repository_id', '=', param('repositoryId'))
        .whereRef('tests.id', '=', 'page.id')
        .selectAll('tests')
        .select('page.total')
        .orderBy('page.failures', 'desc')
        .orderBy('tests.id'),
    ),
    countFailing: compiler.statement<FailingArgs>()((param) =>
      failures(param).select((eb) => eb.fn.count<number>('test_no').distinct().as('total')),
    ),
  };
}

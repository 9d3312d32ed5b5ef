import { type SelectQueryBuilder, sql } from 'kysely';
import type { EntryFilter, EntryRow } from '../queues.ts';
import { all, first, type Operation } from './operation.ts';
import { toEntry } from './rows.ts';
import type { Schema } from './schema.ts';
import type { Placeholders, Statement, StatementCompiler } from './statement.ts';

/**
 * Pages of entries. Without a window of conclusions a page is a stretch of one index. With one there are two ways, and
 * neither is good at both ends: to collect all entries that concluded within the window (good while they are few), or
 * to walk down the list and ask each entry (good while most of them match). Up to FEW conclusions are collected.
 */
const FEW = 5000;

interface ListArgs {
  readonly queueId: string;
  readonly state: string;
  readonly from: number;
  readonly until: number;
  /** The place after which the page starts. */
  readonly submittedAt: number;
  readonly id: string;
  readonly limit: number;
}

type EntryQuery = SelectQueryBuilder<Schema, 'entries', Schema['entries']>;
type ListStatement = Statement<ListArgs, Schema['entries']>;

export function* listEntries(statements: ListEntriesStatements, filter: EntryFilter): Operation<readonly EntryRow[]> {
  const { queueId, limit, state = '' } = filter;
  const from = filter.concludedFrom ?? Number.MIN_SAFE_INTEGER;
  const until = filter.concludedUntil ?? Number.MAX_SAFE_INTEGER;
  // No entry was submitted later than this, so a list without a place to continue from starts at its beginning.
  let place = { submittedAt: Number.MAX_SAFE_INTEGER, id: '' };
  if (filter.afterId !== undefined) {
    const after = yield* first(statements.findPlace, { queueId, id: filter.afterId });
    if (after === undefined) return [];
    place = { submittedAt: after.submitted_at, id: filter.afterId };
  }
  const variants = filter.state === undefined ? statements.ofAnyState : statements.ofState;
  let statement = variants.all;
  if (filter.concludedFrom !== undefined || filter.concludedUntil !== undefined) {
    const conclusions = yield* first(statements.countConclusions, { queueId, from, until });
    statement = (conclusions?.count ?? 0) < FEW ? variants.collected : variants.walked;
  }
  return (yield* all(statement, { queueId, state, from, until, limit, ...place })).map(toEntry);
}

type ListEntriesStatements = ReturnType<typeof listEntriesStatements>;

export function listEntriesStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    ofAnyState: variants(compiler, (query) => query),
    ofState: variants(compiler, (query, param) => query.where('entries.state', '=', param('state'))),
    findPlace: compiler.statement<{ queueId: string; id: string }>()((param) =>
      builder
        .selectFrom('entries')
        .select('submitted_at')
        .where('queue_id', '=', param('queueId'))
        .where('id', '=', param('id')),
    ),
    countConclusions: compiler.statement<{ queueId: string; from: number; until: number }>()((param) =>
      builder
        .selectFrom(conclusionsWithin(compiler, param).select('pr_number').limit(FEW).as('conclusions'))
        .select((eb) => eb.fn.countAll<number>().as('count')),
    ),
  };
}

type Narrow = (query: EntryQuery, param: Placeholders<ListArgs>) => EntryQuery;

function variants(compiler: StatementCompiler, narrow: Narrow): Record<'all' | 'collected' | 'walked', ListStatement> {
  const { builder } = compiler.dialect;
  const statement = (entriesOf: (param: Placeholders<ListArgs>) => EntryQuery) =>
    compiler.statement<ListArgs>()((param) => page(narrow(entriesOf(param), param), param));
  return {
    all: statement(() => builder.selectFrom('entries').selectAll('entries')),
    collected: statement((param) => concludedEntries(compiler, param)),
    walked: statement((param) =>
      builder
        .selectFrom('entries')
        .selectAll('entries')
        .where((eb) =>
          eb.exists(
            eb
              .selectFrom('transitions')
              .select(sql.lit(1).as('one'))
              .whereRef('transitions.queue_id', '=', 'entries.queue_id')
              .whereRef('transitions.pr_number', '=', 'entries.pr_number')
              // The plus keeps SQLite from searching the whole window for each entry instead of its timeline.
              .where(sql<number>`+transitions.at`, '>=', param('from'))
              .where(sql<number>`+transitions.at`, '<=', param('until'))
              .where(isConclusion)
              // The offset keeps PostgreSQL from collecting the whole window first.
              .limit(1)
              .offset(0),
          ),
        ),
    ),
  };
}

/** A cross join, because SQLite keeps its order: from the conclusions to the entries. */
function concludedEntries(compiler: StatementCompiler, param: Placeholders<ListArgs>): EntryQuery {
  const concluded = conclusionsWithin(compiler, param).select('pr_number').distinct().as('concluded');
  const entries = compiler.dialect.builder
    .selectFrom(concluded)
    .crossJoin('entries')
    .selectAll('entries')
    .whereRef('entries.pr_number', '=', 'concluded.pr_number');
  return entries as unknown as EntryQuery;
}

/** The terminal states are literals, as in the partial index that serves this. */
export const isConclusion = sql<boolean>`transitions.to_state in ('MERGED', 'FAILED', 'CANCELLED')`;

function conclusionsWithin(
  compiler: StatementCompiler,
  param: Placeholders<{ queueId: string; from: number; until: number }>,
) {
  return compiler.dialect.builder
    .selectFrom('transitions')
    .where('transitions.queue_id', '=', param('queueId'))
    .where('transitions.at', '>=', param('from'))
    .where('transitions.at', '<=', param('until'))
    .where(isConclusion);
}

function page(query: EntryQuery, param: Placeholders<ListArgs>): EntryQuery {
  return query
    .where('entries.queue_id', '=', param('queueId'))
    .where('entries.submitted_at', '<=', param('submittedAt'))
    .where((eb) => eb.or([eb('entries.submitted_at', '<', param('submittedAt')), eb('entries.id', '>', param('id'))]))
    .orderBy('entries.submitted_at', 'desc')
    .orderBy('entries.id')
    .limit(param('limit'));
}

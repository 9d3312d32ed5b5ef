import type { EntryFilter, EntryRow } from '../queues.ts';
import { all, first, type Operation } from './operation.ts';
import { toEntry } from './rows.ts';
import type { StatementCompiler } from './statement.ts';

/**
 * Pages of entries. Without a window of conclusions a page is a stretch of one index. With one there are two ways, and
 * neither is good at both ends: to collect all entries that concluded within the window (good while they are few), or
 * to walk down the list and ask each entry (good while most of them match). Up to FEW conclusions are collected.
 */
const FEW = 5000;

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
  let variant: keyof typeof variants = 'all';
  if (filter.concludedFrom !== undefined || filter.concludedUntil !== undefined) {
    const conclusions = yield* first(statements.countConclusions, { queueId, from, until });
    variant = (conclusions?.count ?? 0) < FEW ? 'collected' : 'walked';
  }
  const args = { queueId, state, from, until, limit, ...place };
  return (yield* all(variants[variant], args)).map(toEntry);
}

type ListEntriesStatements = ReturnType<typeof listEntriesStatements>;

/** The terminal states are literals, as in the partial index that serves this. */
export const IS_CONCLUSION = `transitions.to_state in ('MERGED', 'FAILED', 'CANCELLED')`;

const CONCLUSIONS_WITHIN = `from transitions
  where transitions.queue_id = :queueId and transitions.at >= :from and transitions.at <= :until and ${IS_CONCLUSION}` as const;
/** A cross join, because SQLite keeps its order: from the conclusions to the entries. */
const COLLECTED = `select entries.* from (select distinct pr_number ${CONCLUSIONS_WITHIN}) as concluded
  cross join entries where entries.pr_number = concluded.pr_number and` as const;
/** The plus keeps SQLite from searching the window for each entry, the offset PostgreSQL from collecting it first. */
const WALKED = `select entries.* from entries where exists (
    select 1 from transitions
    where transitions.queue_id = entries.queue_id and transitions.pr_number = entries.pr_number
    and +transitions.at >= :from and +transitions.at <= :until and ${IS_CONCLUSION} limit 1 offset 0) and` as const;
const PAGE = `entries.queue_id = :queueId and entries.submitted_at <= :submittedAt
  and (entries.submitted_at < :submittedAt or entries.id > :id)
  order by entries.submitted_at desc, entries.id limit :limit` as const;
const OF_STATE = 'entries.state = :state and';

export function listEntriesStatements({ sql }: StatementCompiler) {
  return {
    ofAnyState: {
      all: sql(`select entries.* from entries where ${PAGE}`),
      collected: sql(`${COLLECTED} ${PAGE}`),
      walked: sql(`${WALKED} ${PAGE}`),
    },
    ofState: {
      all: sql(`select entries.* from entries where ${OF_STATE} ${PAGE}`),
      collected: sql(`${COLLECTED} ${OF_STATE} ${PAGE}`),
      walked: sql(`${WALKED} ${OF_STATE} ${PAGE}`),
    },
    findPlace: sql('select submitted_at from entries where queue_id = :queueId and id = :id'),
    countConclusions: sql(`
      select count(*) as count from (select pr_number ${CONCLUSIONS_WITHIN} limit ${FEW}) as conclusions`),
  };
}

import type { Schema } from './schema.ts';
import type { StatementCompiler } from './statement.ts';

/** `total`: rows of the whole list. */
export type PageRow = Schema['tests'] & { readonly total: number };

const EVENTS = 'test_events where repository_id = :repositoryId and test_id = :testId and seq <= :watermark';
const OF_KIND = `from test_states
  where test_states.repository_id = :repositoryId and test_states.kind = :kind and test_states.from_seq <= :watermark
  and (test_states.to_seq is null or test_states.to_seq > :watermark)` as const;
const FAILURES = `from test_failures
  where repository_id = :repositoryId and started_at >= :from and started_at < :until and seq <= :watermark` as const;

/** A page is cut before the tests join it. SQLite keeps the order of cross joins, and would else walk all tests. */
export function listStatements({ sql }: StatementCompiler) {
  return {
    findSequence: sql('select last_seq, quarantine_version from test_sequences where repository_id = :repositoryId'),
    find: sql('select * from tests where repository_id = :repositoryId and id = :testId'),
    search: sql(`
      select * from tests where repository_id = :repositoryId and search_text like :pattern escape '!'
      order by name, id limit :limit`),
    listQuarantinedIds: sql(`
      select test_id from test_states where repository_id = :repositoryId and kind = 'QUARANTINED' and to_seq is null
      order by test_id`),
    listEvents: sql(`
      select * from ${EVENTS} order by at desc, seq desc, ordinal desc limit :limit offset :offset`),
    countEvents: sql(`select count(*) as total from ${EVENTS}`),
    listOfKind: sql(`
      select tests.*, page.total from (
        select test_states.test_id, count(*) over () as total ${OF_KIND}
        order by test_states.test_id limit :limit offset :offset) as page
      cross join tests where tests.repository_id = :repositoryId and tests.id = page.test_id order by tests.id`),
    countOfKind: sql(`select count(*) as total ${OF_KIND}`),
    listFailing: sql(`
      select tests.*, page.total from (
        select tests.id, failing.failures, failing.total from (
          select test_no, count(*) as failures, count(*) over () as total ${FAILURES} group by test_no) as failing
        cross join tests where tests.repository_id = :repositoryId and tests.no = failing.test_no
        order by failing.failures desc, tests.id limit :limit offset :offset) as page
      cross join tests where tests.repository_id = :repositoryId and tests.id = page.id
      order by page.failures desc, tests.id`),
    countFailing: sql(`select count(distinct test_no) as total ${FAILURES}`),
  };
}

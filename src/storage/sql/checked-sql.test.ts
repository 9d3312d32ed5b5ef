import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ArgsOf, ItemOf, RowOf } from './checked-sql.ts';
import { postgresDialect, sqliteDialect } from './dialect.ts';
import { StatementCompiler } from './statement.ts';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <Fact extends true>(fact: Fact) => fact;

const PAGE = 'select id, count(*) as total from queues where branch = :branch and deleted_at is null limit :limit';
const ALL = 'select candidates.* from queues join candidates on queue_id = queues.id where queues.id in (:items)';

describe('a statement in SQL', () => {
  it('has the types of the columns that its text names', () => {
    holds<Same<ArgsOf<typeof PAGE>, { readonly branch: string; readonly limit: number }>>(true);
    holds<Same<RowOf<typeof PAGE>, { readonly id: string; readonly total: number }>>(true);
    holds<Same<ItemOf<typeof ALL>, string>>(true);
    holds<Same<RowOf<typeof ALL>['ended_at'], number | null>>(true);
    holds<Same<RowOf<'update queues set version = :version returning body'>, { readonly body: string }>>(true);
  });

  it('does not pass the type check with a word that is no column of its tables', () => {
    const { sql } = new StatementCompiler(sqliteDialect);
    // @ts-expect-error The column is called deleted_at.
    sql('select id from queues where removed_at is null');
    // @ts-expect-error The column is one of another table.
    sql('select digest from queues');
  });

  it('has the placeholders and the locks of its database', () => {
    const text = 'select id from queues where branch = :branch limit :limit for update skip locked';
    const [sqlite, postgres] = [sqliteDialect, postgresDialect].map((dialect) =>
      new StatementCompiler(dialect).sql(text),
    );
    assert.equal(sqlite?.sql, 'select id from queues where branch = ? limit ? + 0');
    assert.equal(postgres?.sql, 'select id from queues where branch = $1 limit $2 for update skip locked');
    assert.deepEqual(postgres?.bind({ limit: 3, branch: 'main' }), ['main', 3]);
  });
});

import { all, type Operation, run, type SqlEngine } from '../sql/operation.ts';
import { renumberCandidates, renumberFeed } from '../sql/renumber.ts';
import type { StatementCompiler } from '../sql/statement.ts';

/** A dump makes its tables anew, on this server or another. A recovery from an archive begins a timeline. */
const ORIGIN = `(select system_identifier::text from pg_control_system()) || '/' ||
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) || '/' || 'feed_heads'::regclass::oid::text`;

const CANDIDATE_COUNT = {
  read: "(body::jsonb ->> 'candidatesEver')::bigint",
  set: (count: number) => `jsonb_set(body::jsonb, '{candidatesEver}', '${count}')::text`,
};

/** The row of `meta` comes from before the restore. Of servers that start at once, one changes it and renumbers. */
export function noticeRestore(engine: SqlEngine, compiler: StatementCompiler): Promise<void> {
  const keep = compiler.raw(`insert into meta values ('origin', ${ORIGIN}) on conflict (name) do nothing`);
  const change = compiler.raw(
    `update meta set value = ${ORIGIN} where name = 'origin' and value <> ${ORIGIN} returning value`,
  );
  return engine.write(function* (): Operation<void> {
    yield* run(keep, {});
    if ((yield* all(change, {})).length === 0) return;
    for (const renumber of [renumberFeed(Date.now()), renumberCandidates(Date.now(), CANDIDATE_COUNT)]) {
      yield* run(compiler.raw(renumber), {});
    }
  });
}

import type { IdempotentRequestStore } from '../idempotent-requests.ts';
import { changes, execute, findRow, run, type SqlEngine } from './operation.ts';
import { toIdempotentRequest } from './rows.ts';
import type { StatementCompiler } from './statement.ts';

export function createIdempotentRequestStore(engine: SqlEngine, compiler: StatementCompiler): IdempotentRequestStore {
  const statements = idempotentRequestStatements(compiler);
  return {
    begin: (request, limits) =>
      engine.write(function* () {
        if (yield* changes(statements.insert, request)) return undefined;
        if (yield* changes(statements.takeOver, { ...request, ...limits })) return undefined;
        return yield* findRow(statements.find, request, toIdempotentRequest);
      }),
    finish: (request, answer) => engine.write(() => run(statements.finish, { ...request, answer })),
    release: (request) => engine.write(() => run(statements.release, request)),
    tidy: (before) => engine.write(() => execute(statements.tidy, { before })),
  };
}

const OWN = 'token_id = :tokenId and key = :key';
const UNANSWERED = `${OWN} and started_at = :startedAt and answer is null` as const;

export function idempotentRequestStatements({ sql }: StatementCompiler) {
  return {
    insert: sql(`
      insert into idempotent_requests (token_id, key, digest, started_at, answer)
      values (:tokenId, :key, :digest, :startedAt, null) on conflict (token_id, key) do nothing`),
    takeOver: sql(`
      update idempotent_requests set digest = :digest, started_at = :startedAt, answer = null
      where ${OWN} and (started_at < :expiredBefore or answer is null and started_at < :abandonedBefore)`),
    find: sql(`select * from idempotent_requests where ${OWN}`),
    finish: sql(`update idempotent_requests set answer = :answer where ${UNANSWERED}`),
    release: sql(`delete from idempotent_requests where ${UNANSWERED}`),
    tidy: sql('delete from idempotent_requests where started_at < :before'),
  };
}

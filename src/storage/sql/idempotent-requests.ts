import type { Instant } from '../../lib/clock.ts';
import type { IdempotentRequestStore, NewIdempotentRequest } from '../idempotent-requests.ts';
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

interface Limits {
  readonly expiredBefore: Instant;
  readonly abandonedBefore: Instant;
}

export function idempotentRequestStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    insert: compiler.statement<NewIdempotentRequest>()((param) =>
      builder
        .insertInto('idempotent_requests')
        .values({
          token_id: param('tokenId'),
          key: param('key'),
          digest: param('digest'),
          started_at: param('startedAt'),
          answer: null,
        })
        .onConflict((conflict) => conflict.columns(['token_id', 'key']).doNothing()),
    ),
    takeOver: compiler.statement<NewIdempotentRequest & Limits>()((param) =>
      builder
        .updateTable('idempotent_requests')
        .set({ digest: param('digest'), started_at: param('startedAt'), answer: null })
        .where('token_id', '=', param('tokenId'))
        .where('key', '=', param('key'))
        .where((eb) =>
          eb.or([
            eb('started_at', '<', param('expiredBefore')),
            eb.and([eb('answer', 'is', null), eb('started_at', '<', param('abandonedBefore'))]),
          ]),
        ),
    ),
    find: compiler.statement<NewIdempotentRequest>()((param) =>
      builder
        .selectFrom('idempotent_requests')
        .selectAll()
        .where('token_id', '=', param('tokenId'))
        .where('key', '=', param('key')),
    ),
    finish: compiler.statement<NewIdempotentRequest & { answer: string }>()((param) =>
      builder
        .updateTable('idempotent_requests')
        .set({ answer: param('answer') })
        .where('token_id', '=', param('tokenId'))
        .where('key', '=', param('key'))
        .where('started_at', '=', param('startedAt'))
        .where('answer', 'is', null),
    ),
    release: compiler.statement<NewIdempotentRequest>()((param) =>
      builder
        .deleteFrom('idempotent_requests')
        .where('token_id', '=', param('tokenId'))
        .where('key', '=', param('key'))
        .where('started_at', '=', param('startedAt'))
        .where('answer', 'is', null),
    ),
    tidy: compiler.statement<{ before: Instant }>()((param) =>
      builder.deleteFrom('idempotent_requests').where('started_at', '<', param('before')),
    ),
  };
}

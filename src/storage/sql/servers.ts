import { sql } from 'kysely';
import type { ServerRow, ServerStore } from '../servers.ts';
import { listRows, run, type SqlEngine } from './operation.ts';
import type { StatementCompiler } from './statement.ts';

/** A server that stopped without a word is forgotten after this time. */
const FORGET_MS = 24 * 60 * 60 * 1000;

export function createServerStore(engine: SqlEngine, compiler: StatementCompiler): ServerStore {
  const statements = serverStatements(compiler);
  return {
    beat: (server, aliveMs) =>
      // Lost with a power cut, and written again by the next beat.
      engine.writeUnsynced(function* () {
        yield* run(statements.beat, server);
        yield* run(statements.forget, { forgetMs: FORGET_MS });
        return yield* listRows(statements.listAlive, { aliveMs }, (row) => ({ ...row }));
      }),
    leave: (id) => engine.write(() => run(statements.leave, { id })),
  };
}

export function serverStatements(compiler: StatementCompiler) {
  const { builder, now } = compiler.dialect;
  return {
    beat: compiler.statement<ServerRow>()((param) => {
      const row = { address: param('address'), version: param('version'), seen_at: now };
      return builder
        .insertInto('servers')
        .values({ id: param('id'), ...row })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(row));
    }),
    forget: compiler.statement<{ forgetMs: number }>()((param) =>
      builder.deleteFrom('servers').where('seen_at', '<', sql<number>`${now} - ${param('forgetMs')}`),
    ),
    listAlive: compiler.statement<{ aliveMs: number }>()((param) =>
      builder
        .selectFrom('servers')
        .select(['id', 'address', 'version'])
        .where('seen_at', '>', sql<number>`${now} - ${param('aliveMs')}`)
        .orderBy('id'),
    ),
    leave: compiler.statement<{ id: string }>()((param) => builder.deleteFrom('servers').where('id', '=', param('id'))),
  };
}

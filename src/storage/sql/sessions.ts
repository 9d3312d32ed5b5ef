import type { Instant } from '../../lib/clock.ts';
import type { PersonSession, SessionStore } from '../sessions.ts';
import { feedInserts } from './feed-waiting.ts';
import { changes, execute, executeAll, first, listRows, run, type SqlEngine } from './operation.ts';
import { fromSession, toOrganization, toSession, toToken } from './rows.ts';
import { callOf, type StatementCompiler } from './statement.ts';

export function createSessionStore(engine: SqlEngine, compiler: StatementCompiler): SessionStore {
  const statements = { ...sessionStatements(compiler), insertFeed: feedInserts(compiler) };
  return {
    insert: (session, feed = []) =>
      engine.write(() => executeAll([callOf(statements.insert, fromSession(session)), ...statements.insertFeed(feed)])),
    find: (hash) =>
      engine.read(function* () {
        const session = yield* first(statements.find, { hash });
        if (session === undefined) return undefined;
        if (session.organization_id !== null) {
          const found = yield* first(statements.findOrganization, { id: session.organization_id });
          return found && { session: toPersonSession(session), token: undefined, organization: toOrganization(found) };
        }
        const token = yield* first(statements.findToken, { id: session.token_id });
        if (token === undefined) return undefined;
        const organization = { id: token.organization_id, slug: token.slug, created_at: token.organization_created_at };
        return { session: toSession(session), token: toToken(token), organization: toOrganization(organization) };
      }),
    openLink: (link, session) => engine.write(() => changes(statements.openLink, { ...session, link })),
    recordUse: (hash, at) => engine.write(() => run(statements.recordUse, { hash, at })),
    remove: (hash) => engine.write(() => run(statements.remove, { hash })),
    listPeople: (organizationId) =>
      engine.read(() => listRows(statements.listPeople, { organizationId }, toPersonSession)),
    revoke: (organizationId, hash, feed) =>
      engine.write(function* () {
        const isKnown = yield* changes(statements.revoke, { organizationId, hash });
        if (isKnown) yield* executeAll(statements.insertFeed(feed));
        return isKnown;
      }),
    tidy: (before) => engine.write(() => execute(statements.tidy, before)),
  };
}

function toPersonSession(row: Parameters<typeof toSession>[0]): PersonSession {
  return toSession(row) as PersonSession;
}

export function sessionStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    insert: compiler.insertOne('sessions', (insert) => insert),
    find: compiler.statement<{ hash: string }>()((param) =>
      builder.selectFrom('sessions').selectAll().where('hash', '=', param('hash')),
    ),
    findOrganization: compiler.statement<{ id: string }>()((param) =>
      builder.selectFrom('organizations').selectAll().where('id', '=', param('id')),
    ),
    listPeople: compiler.statement<{ organizationId: string }>()((param) =>
      builder
        .selectFrom('sessions')
        .selectAll()
        .where('organization_id', '=', param('organizationId'))
        .orderBy('created_at', 'desc'),
    ),
    revoke: compiler.statement<{ organizationId: string; hash: string }>()((param) =>
      builder
        .deleteFrom('sessions')
        .where('hash', '=', param('hash'))
        .where('organization_id', '=', param('organizationId')),
    ),
    findToken: compiler.statement<{ id: string }>()((param) =>
      builder
        .selectFrom('tokens')
        .innerJoin('organizations', 'organizations.id', 'tokens.organization_id')
        .selectAll('tokens')
        .select(['organizations.slug', 'organizations.created_at as organization_created_at'])
        .where('tokens.id', '=', param('id')),
    ),
    openLink: compiler.statement<{ link: string; hash: string; at: Instant; madeAfter: Instant }>()((param) =>
      builder
        .updateTable('sessions')
        .set({ hash: param('hash'), created_at: param('at'), used_at: param('at'), is_link: false })
        .where('hash', '=', param('link'))
        .where('is_link', '=', true)
        .where('created_at', '>', param('madeAfter')),
    ),
    recordUse: compiler.statement<{ hash: string; at: Instant }>()((param) =>
      builder
        .updateTable('sessions')
        .set({ used_at: param('at') })
        .where('hash', '=', param('hash'))
        .where('used_at', '<', param('at')),
    ),
    remove: compiler.statement<{ hash: string }>()((param) =>
      builder.deleteFrom('sessions').where('hash', '=', param('hash')),
    ),
    tidy: compiler.statement<{ begun: Instant; used: Instant }>()((param) =>
      builder
        .deleteFrom('sessions')
        .where((eb) => eb.or([eb('created_at', '<', param('begun')), eb('used_at', '<', param('used'))])),
    ),
  };
}

import type { PersonSession, SessionStore } from '../sessions.ts';
import { TOKEN_AND_ORGANIZATION } from './accounts.ts';
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
  const { sql } = compiler;
  return {
    insert: compiler.insertOne('sessions', ''),
    find: sql('select * from sessions where hash = :hash'),
    findOrganization: sql('select * from organizations where id = :id'),
    listPeople: sql('select * from sessions where organization_id = :organizationId order by created_at desc'),
    revoke: sql('delete from sessions where hash = :hash and organization_id = :organizationId'),
    findToken: sql(`${TOKEN_AND_ORGANIZATION} where tokens.id = :id`),
    openLink: sql(`
      update sessions set hash = :hash, created_at = :at, used_at = :at, is_link = false
      where hash = :link and is_link = true and created_at > :madeAfter`),
    recordUse: sql('update sessions set used_at = :at where hash = :hash and used_at < :at'),
    remove: sql('delete from sessions where hash = :hash'),
    tidy: sql('delete from sessions where created_at < :begun or used_at < :used'),
  };
}

import type { AccountStore, Token } from '../accounts.ts';
import { feedInserts } from './feed-waiting.ts';
import { changes, execute, executeAll, findRow, first, listRows, type Operation, type SqlEngine } from './operation.ts';
import { fromOrganization, fromToken, toOrganization, toToken } from './rows.ts';
import { callOf, replacing, type StatementCompiler } from './statement.ts';

type AccountStatements = ReturnType<typeof accountStatements> & {
  readonly insertFeed: ReturnType<typeof feedInserts>;
};

export function createAccountStore(engine: SqlEngine, compiler: StatementCompiler): AccountStore {
  const statements = { ...accountStatements(compiler), insertFeed: feedInserts(compiler) };
  return {
    createOrganization: (organization, token, feed = []) =>
      engine.write(function* () {
        const created = yield* execute(statements.insertOrganization, fromOrganization(organization));
        if (created === 0) return 'slug_taken';
        yield* executeAll([callOf(statements.insertToken, fromToken(token)), ...statements.insertFeed(feed)]);
        return 'created';
      }),
    findOrganization: (slug) => engine.read(() => findRow(statements.findOrganization, { slug }, toOrganization)),
    findOrganizationById: (id) => engine.read(() => findRow(statements.findOrganizationById, { id }, toOrganization)),
    ...tokenOperations(engine, statements),
  };
}

function tokenOperations(engine: SqlEngine, statements: AccountStatements) {
  return {
    insertToken: (token, feed = []) =>
      engine.write(() =>
        executeAll([callOf(statements.insertToken, fromToken(token)), ...statements.insertFeed(feed)]),
      ),
    replaceToken: (token) => engine.write(() => replaceToken(statements, token)),
    findToken: (hash) =>
      engine.read(function* () {
        const row = yield* first(statements.findToken, { hash });
        if (row === undefined) return undefined;
        const organization = { id: row.organization_id, slug: row.slug, created_at: row.organization_created_at };
        return { token: toToken(row), organization: toOrganization(organization) };
      }),
    listTokens: (organizationId) => engine.read(() => listRows(statements.listTokens, { organizationId }, toToken)),
    revokeToken: (organizationId, id, at, feed = []) =>
      engine.write(function* () {
        const isKnown = yield* changes(statements.revokeToken, { organizationId, id, at });
        if (isKnown) yield* executeAll(statements.insertFeed(feed));
        return isKnown;
      }),
    listTokensOfPeople: () => engine.read(() => listRows(statements.listTokensOfPeople, {}, toToken)),
    recordSignIn: (ids, person, at) =>
      engine.write(() =>
        executeAll(
          [...ids].sort().map((id) => callOf(statements.recordSignIn, { id, person: JSON.stringify(person), at })),
        ),
      ),
    recordTokenUse: (uses) =>
      engine.write(function* () {
        // In one order on every server, so that two of them never wait for each other.
        const sorted = [...uses].sort(([a], [b]) => (a < b ? -1 : 1));
        yield* executeAll(sorted.map(([id, at]) => callOf(statements.recordTokenUse, { id, at })));
      }),
  } satisfies Partial<AccountStore>;
}

/** An environment's token may come back after another took its place: the row of its hash is used again. */
function* replaceToken(statements: AccountStatements, token: Token): Operation<void> {
  const { organizationId, origin, hash, createdAt } = token;
  yield* execute(statements.revokeOthers, { organizationId, origin, hash, at: createdAt });
  yield* execute(statements.upsertToken, fromToken(token));
}

function accountStatements(compiler: StatementCompiler) {
  return { ...organizationStatements(compiler), ...tokenStatements(compiler) };
}

function organizationStatements(compiler: StatementCompiler) {
  const { sql } = compiler;
  return {
    insertOrganization: compiler.insertOne('organizations', 'on conflict (slug) do nothing'),
    findOrganization: sql('select * from organizations where slug = :slug'),
    findOrganizationById: sql('select * from organizations where id = :id'),
  };
}

export const TOKEN_AND_ORGANIZATION = `select tokens.*, organizations.slug, organizations.created_at as organization_created_at
  from tokens join organizations on organizations.id = tokens.organization_id`;

function tokenStatements(compiler: StatementCompiler) {
  const { sql } = compiler;
  return {
    insertToken: compiler.insertOne('tokens', ''),
    upsertToken: compiler.insertOne('tokens', replacing('tokens', ['hash'], ['id', 'created_at', 'last_used_at'])),
    revokeOthers: sql(`
      update tokens set revoked_at = :at
      where organization_id = :organizationId and origin = :origin and hash <> :hash and revoked_at is null`),
    findToken: sql(`${TOKEN_AND_ORGANIZATION} where tokens.hash = :hash`),
    listTokens: sql('select * from tokens where organization_id = :organizationId order by created_at, id'),
    revokeToken: sql(`
      update tokens set revoked_at = coalesce(revoked_at, :at) where id = :id and organization_id = :organizationId`),
    listTokensOfPeople: sql('select * from tokens where person is not null and revoked_at is null'),
    recordSignIn: sql('update tokens set person = :person, signed_in_at = :at where id = :id'),
    recordTokenUse: sql(`
      update tokens set last_used_at = :at where id = :id and (last_used_at is null or last_used_at < :at)`),
  };
}

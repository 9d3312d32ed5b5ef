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
  const { builder } = compiler.dialect;
  return {
    insertOrganization: compiler.insertOne('organizations', (insert) =>
      insert.onConflict((conflict) => conflict.column('slug').doNothing()),
    ),
    findOrganization: compiler.statement<{ slug: string }>()((param) =>
      builder.selectFrom('organizations').selectAll().where('slug', '=', param('slug')),
    ),
    findOrganizationById: compiler.statement<{ id: string }>()((param) =>
      builder.selectFrom('organizations').selectAll().where('id', '=', param('id')),
    ),
  };
}

function tokenStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    insertToken: compiler.insertOne('tokens', (insert) => insert),
    upsertToken: compiler.insertOne('tokens', (insert) =>
      replacing(insert, 'tokens', { key: ['hash'], kept: ['id', 'created_at', 'last_used_at'] }),
    ),
    revokeOthers: compiler.statement<{ organizationId: string; origin: Token['origin']; hash: string; at: number }>()(
      (param) =>
        builder
          .updateTable('tokens')
          .set({ revoked_at: param('at') })
          .where('organization_id', '=', param('organizationId'))
          .where('origin', '=', param('origin'))
          .where('hash', '!=', param('hash'))
          .where('revoked_at', 'is', null),
    ),
    findToken: compiler.statement<{ hash: string }>()((param) =>
      builder
        .selectFrom('tokens')
        .innerJoin('organizations', 'organizations.id', 'tokens.organization_id')
        .selectAll('tokens')
        .select(['organizations.slug', 'organizations.created_at as organization_created_at'])
        .where('tokens.hash', '=', param('hash')),
    ),
    listTokens: compiler.statement<{ organizationId: string }>()((param) =>
      builder
        .selectFrom('tokens')
        .selectAll()
        .where('organization_id', '=', param('organizationId'))
        .orderBy('created_at')
        .orderBy('id'),
    ),
    revokeToken: compiler.statement<{ organizationId: string; id: string; at: number }>()((param) =>
      builder
        .updateTable('tokens')
        .set((eb) => ({ revoked_at: eb.fn.coalesce('revoked_at', eb.cast<number>(eb.val(param('at')), 'bigint')) }))
        .where('id', '=', param('id'))
        .where('organization_id', '=', param('organizationId')),
    ),
    listTokensOfPeople: compiler.statement<object>()(() =>
      builder.selectFrom('tokens').selectAll().where('person', 'is not', null).where('revoked_at', 'is', null),
    ),
    recordSignIn: compiler.statement<{ id: string; person: string; at: number }>()((param) =>
      builder
        .updateTable('tokens')
        .set({ person: param('person'), signed_in_at: param('at') })
        .where('id', '=', param('id')),
    ),
    recordTokenUse: compiler.statement<{ id: string; at: number }>()((param) =>
      builder
        .updateTable('tokens')
        .set({ last_used_at: param('at') })
        .where('id', '=', param('id'))
        .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', param('at'))])),
    ),
  };
}

import { sql } from 'kysely';
import { Fault } from '../../../lib/fault.ts';
import type { SqlDialect } from '../dialect.ts';
import { executeAll, first, type Operation, type SqlEngine } from '../operation.ts';
import { callOf, type StatementCompiler } from '../statement.ts';
import { MIGRATIONS } from './all.ts';
import type { Migration } from './migration.ts';

/** Brings the database to the newest schema, one transaction for each step. Several servers may do so at once. */
export async function migrate(
  engine: SqlEngine,
  compiler: StatementCompiler,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const statements = migrationStatements(compiler);
  let isBehind = true;
  while (isBehind) isBehind = await engine.write(() => migrateOnce(compiler, statements, migrations));
}

type MigrationStatements = ReturnType<typeof migrationStatements>;

function migrationStatements(compiler: StatementCompiler) {
  const { builder, lockMigrations, columns } = compiler.dialect;
  return {
    lock:
      lockMigrations === undefined
        ? undefined
        : compiler.statement<object>()(() => ({ compile: () => sql.raw(lockMigrations).compile(builder) })),
    createTable: compiler.statement<object>()(() =>
      builder.schema
        .createTable('migrations')
        .ifNotExists()
        .addColumn('version', columns.integer, (c) => c.primaryKey())
        .addColumn('name', columns.text, (c) => c.notNull())
        .addColumn('applied_at', columns.integer, (c) => c.notNull()),
    ),
    findVersion: compiler.statement<object>()(() =>
      builder.selectFrom('migrations').select((eb) => eb.fn.max('version').as('version')),
    ),
    record: compiler.statement<{ version: number; name: string; appliedAt: number }>()((param) =>
      builder
        .insertInto('migrations')
        .values({ version: param('version'), name: param('name'), applied_at: param('appliedAt') }),
    ),
  };
}

function* migrateOnce(
  compiler: StatementCompiler,
  statements: MigrationStatements,
  migrations: readonly Migration[],
): Operation<boolean> {
  if (statements.lock !== undefined) yield* executeAll([callOf(statements.lock, {})]);
  yield* executeAll([callOf(statements.createTable, {})]);
  const version: number = (yield* first(statements.findVersion, {}))?.version ?? 0;
  refuseNewer(version, migrations.length);
  const next = migrations[version];
  if (next === undefined) return false;
  for (const query of queriesOf(next, compiler.dialect)) {
    yield* executeAll([
      callOf(
        compiler.statement<object>()(() => query),
        {},
      ),
    ]);
  }
  const record = { version: version + 1, name: next.name, appliedAt: Date.now() };
  yield* executeAll([callOf(statements.record, record)]);
  return true;
}

/** The text of each statement of a migration, in order. */
export function migrationTexts(migration: Migration, dialect: SqlDialect): readonly string[] {
  return queriesOf(migration, dialect).map((query) => query.compile().sql);
}

function queriesOf(migration: Migration, { builder, columns }: SqlDialect) {
  const raw = (text: string) => ({ compile: () => sql.raw(text).compile(builder) });
  return migration.statements({ schema: builder.schema, types: columns, raw });
}

function refuseNewer(version: number, known: number): void {
  if (version <= known) return;
  throw new Fault(
    'STORE_TOO_NEW',
    `The store has schema version ${version}, but this Sluice knows versions up to ${known}: ` +
      'start the newer Sluice that wrote it, or restore a backup of before.',
  );
}

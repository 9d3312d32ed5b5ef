import { Fault } from '../../../lib/fault.ts';
import type { SqlDialect } from '../dialect.ts';
import { execute, first, type Operation, type SqlEngine } from '../operation.ts';
import type { StatementCompiler } from '../statement.ts';
import { MIGRATIONS } from './all.ts';
import type { Migration } from './migration.ts';

const CREATE_TABLE =
  'create table if not exists migrations (version bigint primary key, name text not null, applied_at bigint not null)';

export interface MigrationStep {
  readonly version: number;
  readonly name: string;
  readonly ms: number;
}

/** Told of each migration of a store that was there before. */
export type OnMigrated = (step: MigrationStep) => void;

// SPEC D3
// SPEC D37
export async function migrate(
  engine: SqlEngine,
  compiler: StatementCompiler,
  {
    migrations = MIGRATIONS,
    onMigrated,
  }: { readonly migrations?: readonly Migration[]; readonly onMigrated?: OnMigrated | undefined } = {},
): Promise<void> {
  const statements = migrationStatements(compiler);
  for (let isNew = false; ; ) {
    const begunAt = performance.now();
    const step = await engine.write(() => migrateOnce(compiler, statements, migrations));
    if (step === undefined) return;
    isNew ||= step.version === 1;
    if (!isNew) onMigrated?.({ ...step, ms: Math.round(performance.now() - begunAt) });
  }
}

type MigrationStatements = ReturnType<typeof migrationStatements>;

function migrationStatements(compiler: StatementCompiler) {
  const { lockMigrations } = compiler.dialect;
  return {
    prepare: [...(lockMigrations === undefined ? [] : [lockMigrations]), CREATE_TABLE].map((text) =>
      compiler.raw(text),
    ),
    findVersion: compiler.sql('select max(version) as version from migrations'),
    record: compiler.sql('insert into migrations (version, name, applied_at) values (:version, :name, :appliedAt)'),
  };
}

function* migrateOnce(
  compiler: StatementCompiler,
  statements: MigrationStatements,
  migrations: readonly Migration[],
): Operation<Omit<MigrationStep, 'ms'> | undefined> {
  for (const statement of statements.prepare) yield* execute(statement, {});
  const version = (yield* first(statements.findVersion, {}))?.version ?? 0;
  refuseNewer(version, migrations.length);
  const next = migrations[version];
  if (next === undefined) return undefined;
  for (const text of migrationTexts(next, compiler.dialect)) yield* execute(compiler.raw(text), {});
  const record = { version: version + 1, name: next.name, appliedAt: Date.now() };
  yield* execute(statements.record, record);
  return record;
}

/** The statements of a migration as this database reads them. */
export function migrationTexts(migration: Migration, dialect: SqlDialect): readonly string[] {
  const { words } = dialect;
  return migration
    .statements(dialect)
    .map((text) => text.replaceAll(/\b(?:TEXT|BYTES|CLUSTERED)\b/g, (word) => words[word as keyof typeof words]));
}

function refuseNewer(version: number, known: number): void {
  if (version <= known) return;
  throw new Fault(
    'STORE_TOO_NEW',
    `The store has schema version ${version}, but this Sluice knows versions up to ${known}: ` +
      'start the newer Sluice that wrote it, or restore a backup of before.',
  );
}

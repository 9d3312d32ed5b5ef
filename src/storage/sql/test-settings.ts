import type { Monitor } from '../../flaky/core/monitor.ts';
import type { RepositoryId } from '../repositories.ts';
import type { SettingsChange, StoredTestSettings, TestSettingsStore } from '../test-settings.ts';
import { rowsOf } from './columns.ts';
import { execute, executeAll, findRow, first, listRows, type Operation, type SqlEngine } from './operation.ts';
import type { StatementCompiler } from './statement.ts';
import { TEST_SETTINGS } from './test-tables.ts';

type Statements = ReturnType<typeof settingsStatements>;

export function createTestSettingsStore(engine: SqlEngine, compiler: StatementCompiler): TestSettingsStore {
  const statements = settingsStatements(compiler);
  return {
    find: (repositoryId) => engine.read(() => findRow(statements.find, { repositoryId }, toSettings)),
    save: (repositoryId, expectedVersion, next, change) =>
      engine.write(() => save(statements, { repositoryId, expectedVersion, next, change })),
    markApplied: (repositoryId, version) => engine.write(() => markApplied(statements, repositoryId, version)),
    findMonitors: (repositoryId, version) =>
      engine.read(() =>
        findRow(statements.findMonitors, { repositoryId, version }, (row) => JSON.parse(row.monitors) as Monitor[]),
      ),
    listBehind: () =>
      engine.read(() => listRows(statements.listBehind, {}, (row) => row.repository_id as RepositoryId)),
    listChanges: (repositoryId, limit) =>
      engine.read(() =>
        listRows(statements.listChanges, { repositoryId, limit }, ({ at, actor, detail }) => ({ at, actor, detail })),
      ),
  };
}

interface Save {
  readonly repositoryId: string;
  readonly expectedVersion: number;
  readonly next: Pick<StoredTestSettings, 'settings' | 'monitors'>;
  readonly change: SettingsChange;
}

/** Inserting and updating both do nothing where the version is another: whoever comes second changes nothing. */
function* save(statements: Statements, of: Save): Operation<StoredTestSettings | undefined> {
  const { repositoryId, expectedVersion, next, change } = of;
  const row = {
    repository_id: repositoryId,
    version: expectedVersion + 1,
    expectedVersion,
    settings: JSON.stringify(next.settings),
    monitors: JSON.stringify(next.monitors),
    applied_version: 0,
    // Those of version 0 are the defaults, which are stored nowhere.
    applied_monitors: '[]',
    actor: change.actor,
    changed_at: change.at,
  };
  const saved = expectedVersion === 0 ? yield* first(statements.insert, row) : yield* first(statements.update, row);
  if (saved === undefined) return undefined;
  const { at, actor, detail } = change;
  const { version, monitors } = row;
  yield* executeAll(statements.insertChanges([{ repository_id: repositoryId, version, at, actor, detail, monitors }]));
  return toSettings(saved);
}

/** Somebody may have made a later version meanwhile: what is applied is what was asked for. */
function* markApplied(statements: Statements, repositoryId: string, version: number): Operation<void> {
  const row = yield* first(statements.findMonitors, { repositoryId, version });
  if (row !== undefined) yield* execute(statements.markApplied, { repositoryId, version, monitors: row.monitors });
}

const { to: toSettings } = rowsOf(TEST_SETTINGS);

export function settingsStatements(compiler: StatementCompiler) {
  const { sql } = compiler;
  return {
    insert: compiler.insertOne('test_settings', 'on conflict (repository_id) do nothing returning *'),
    update: sql(`
      update test_settings set version = :version, settings = :settings, monitors = :monitors, actor = :actor,
        changed_at = :changed_at
      where repository_id = :repository_id and version = :expectedVersion returning *`),
    insertChanges: compiler.insert('test_setting_changes'),
    find: sql('select * from test_settings where repository_id = :repositoryId'),
    findMonitors: sql(
      'select monitors from test_setting_changes where repository_id = :repositoryId and version = :version',
    ),
    markApplied: sql(`
      update test_settings set applied_version = :version, applied_monitors = :monitors
      where repository_id = :repositoryId and applied_version < :version`),
    listBehind: sql('select repository_id from test_settings where applied_version < version order by repository_id'),
    listChanges: sql(`
      select at, actor, detail from test_setting_changes where repository_id = :repositoryId
      order by version desc limit :limit`),
  };
}

import type { Monitor } from '../../flaky/core/monitor.ts';
import type { RepositoryId } from '../repositories.ts';
import type { SettingsChange, StoredTestSettings, TestSettingsStore } from '../test-settings.ts';
import { rowsOf } from './columns.ts';
import { execute, executeAll, findRow, first, listRows, type Operation, type SqlEngine } from './operation.ts';
import type { Schema } from './schema.ts';
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
  const saved = yield* first(expectedVersion === 0 ? statements.insert : statements.update, row);
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

type SavedRow = Schema['test_settings'] & { expectedVersion: number };

export function settingsStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    ...saveStatements(compiler),
    find: compiler.statement<{ repositoryId: string }>()((param) =>
      builder.selectFrom('test_settings').selectAll().where('repository_id', '=', param('repositoryId')),
    ),
    findMonitors: compiler.statement<{ repositoryId: string; version: number }>()((param) =>
      builder
        .selectFrom('test_setting_changes')
        .select('monitors')
        .where('repository_id', '=', param('repositoryId'))
        .where('version', '=', param('version')),
    ),
    markApplied: compiler.statement<{ repositoryId: string; version: number; monitors: string }>()((param) =>
      builder
        .updateTable('test_settings')
        .set({ applied_version: param('version'), applied_monitors: param('monitors') })
        .where('repository_id', '=', param('repositoryId'))
        .where('applied_version', '<', param('version')),
    ),
    listBehind: compiler.statement<object>()(() =>
      builder
        .selectFrom('test_settings')
        .select('repository_id')
        .whereRef('applied_version', '<', 'version')
        .orderBy('repository_id'),
    ),
    listChanges: compiler.statement<{ repositoryId: string; limit: number }>()((param) =>
      builder
        .selectFrom('test_setting_changes')
        .select(['at', 'actor', 'detail'])
        .where('repository_id', '=', param('repositoryId'))
        .orderBy('version', 'desc')
        .limit(param('limit')),
    ),
  };
}

function saveStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    insert: compiler.insertOne('test_settings', (insert) =>
      insert.onConflict((conflict) => conflict.column('repository_id').doNothing()).returningAll(),
    ),
    update: compiler.statement<SavedRow>()((param) =>
      builder
        .updateTable('test_settings')
        .set({
          version: param('version'),
          settings: param('settings'),
          monitors: param('monitors'),
          actor: param('actor'),
          changed_at: param('changed_at'),
        })
        .where('repository_id', '=', param('repository_id'))
        .where('version', '=', param('expectedVersion'))
        .returningAll(),
    ),
    insertChanges: compiler.insert('test_setting_changes'),
  };
}

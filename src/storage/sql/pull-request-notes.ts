import type { PullRequestNote, PullRequestNoteStore } from '../pull-request-notes.ts';
import { execute, findRow, run, type SqlEngine } from './operation.ts';
import { toPullRequestNote } from './rows.ts';
import type { StatementCompiler } from './statement.ts';

export function createPullRequestNoteStore(engine: SqlEngine, compiler: StatementCompiler): PullRequestNoteStore {
  const statements = pullRequestNoteStatements(compiler);
  return {
    find: (repositoryId, prNumber) =>
      engine.read(() => findRow(statements.find, { repositoryId, prNumber }, toPullRequestNote)),
    save: (note) =>
      engine.write(function* () {
        const changed =
          note.version === 1
            ? yield* execute(statements.insert, note)
            : yield* execute(statements.update, { ...note, expectedVersion: note.version - 1 });
        return changed === 0 ? 'stale' : 'saved';
      }),
    removeAll: (repositoryId) => engine.write(() => run(statements.removeAll, { repositoryId })),
  };
}

export function pullRequestNoteStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    find: compiler.statement<{ repositoryId: string; prNumber: number }>()((param) =>
      builder
        .selectFrom('pull_request_notes')
        .selectAll()
        .where('repository_id', '=', param('repositoryId'))
        .where('pr_number', '=', param('prNumber')),
    ),
    // Nothing is said of a repository that is gone.
    insert: compiler.statement<PullRequestNote>()((param) =>
      builder
        .insertInto('pull_request_notes')
        .columns(['repository_id', 'pr_number', 'version', 'body'])
        .expression((eb) =>
          eb
            .selectFrom('repositories')
            .select((each) => [
              'id',
              each.val(param('prNumber')).as('pr_number'),
              each.val(param('version')).as('version'),
              each.val(param('body')).as('body'),
            ])
            .where('id', '=', param('repositoryId')),
        )
        .onConflict((conflict) => conflict.columns(['repository_id', 'pr_number']).doNothing()),
    ),
    removeAll: compiler.statement<{ repositoryId: string }>()((param) =>
      builder.deleteFrom('pull_request_notes').where('repository_id', '=', param('repositoryId')),
    ),
    update: compiler.statement<PullRequestNote & { expectedVersion: number }>()((param) =>
      builder
        .updateTable('pull_request_notes')
        .set({ version: param('version'), body: param('body') })
        .where('repository_id', '=', param('repositoryId'))
        .where('pr_number', '=', param('prNumber'))
        .where('version', '=', param('expectedVersion')),
    ),
  };
}

import type { PullRequestNoteStore } from '../pull-request-notes.ts';
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

export function pullRequestNoteStatements({ sql }: StatementCompiler) {
  return {
    find: sql('select * from pull_request_notes where repository_id = :repositoryId and pr_number = :prNumber'),
    // Nothing is stored about a repository that is gone.
    insert: sql(`
      insert into pull_request_notes (repository_id, pr_number, version, body)
      select id, :prNumber, :version, :body from repositories where id = :repositoryId
      on conflict (repository_id, pr_number) do nothing`),
    removeAll: sql('delete from pull_request_notes where repository_id = :repositoryId'),
    update: sql(`
      update pull_request_notes set version = :version, body = :body
      where repository_id = :repositoryId and pr_number = :prNumber and version = :expectedVersion`),
  };
}

import type { AskedTest } from '../../checks/asked-test.ts';
import type { Question } from '../../engine/model/question.ts';
import type { RepositoryId } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';

/** The tests of a question with the names that frameworks select them by. A test that was forgotten is left out. */
export async function readAskedTests(
  { store }: Pick<App, 'store'>,
  repositoryId: RepositoryId,
  question: Question,
): Promise<readonly AskedTest[]> {
  const ids = question.flatMap(({ tests }) => tests.map(({ id }) => id));
  const { known } = await store.testIngest.load(repositoryId, [...new Set(ids)]);
  const byId = new Map(known.map(({ test }) => [test.id, test]));
  return question.flatMap(({ check, tests }) =>
    tests.flatMap(({ id }) => {
      const test = byId.get(id);
      if (test === undefined) return [];
      const { name, file, classname, parent, variant } = test;
      return { id, check, name, file, classname, parent, variant };
    }),
  );
}

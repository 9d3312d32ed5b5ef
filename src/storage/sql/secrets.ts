import type { RepositoryId } from '../repositories.ts';
import type { Secret, SecretStore } from '../secrets.ts';
import { execute, executeAll, listRows, type SqlEngine } from './operation.ts';
import type { StatementCompiler } from './statement.ts';

/** A secret is a row of `meta`. Its name begins so. */
export const SECRET = 'secret ';

export function createSecretStore(engine: SqlEngine, compiler: StatementCompiler): SecretStore {
  const { sql } = compiler;
  const list = sql('select * from meta where name like :pattern order by name');
  const upsert = compiler.upsert('meta', ['name']);
  const remove = sql('delete from meta where name = :name');
  const keyOf = (id: RepositoryId, name: string) => `${SECRET}${id} ${name}`;
  return {
    list: (id) =>
      engine.read(() =>
        listRows(list, { pattern: `${keyOf(id, '')}%` }, (row): Secret => {
          return { ...JSON.parse(row.value), name: row.name.slice(keyOf(id, '').length) };
        }),
      ),
    set: (id, { name, ...facts }) =>
      engine.write(() => executeAll(upsert([{ name: keyOf(id, name), value: JSON.stringify(facts) }]))),
    remove: (id, name) =>
      engine.write(function* () {
        return (yield* execute(remove, { name: keyOf(id, name) })) > 0;
      }),
  };
}

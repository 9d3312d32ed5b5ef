import { sqliteDialect } from '../sql/dialect.ts';
import { all } from '../sql/operation.ts';
import type { StatementCompiler } from '../sql/statement.ts';
import type { SqliteEngine } from './engine.ts';

export function createPing(engine: SqliteEngine, compiler: StatementCompiler): () => Promise<void> {
  const ping = compiler.statement<object>()(() => sqliteDialect.builder.selectFrom('meta').select('name').limit(1));
  return () =>
    engine.read(function* () {
      yield* all(ping, {});
    });
}

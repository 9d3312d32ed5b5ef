import type { SqlDialect } from '../dialect.ts';

/** One step forward; its place in the list is the schema's version. Once released, a migration never changes. */
export interface Migration {
  readonly name: string;
  /** In which TEXT, BYTES and CLUSTERED stand for what the dialect has for them (`SqlDialect.words`). */
  statements(dialect: SqlDialect): readonly string[];
}

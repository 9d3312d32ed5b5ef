import type { SchemaModule } from 'kysely';
import type { ColumnTypes } from '../dialect.ts';
import type { Compilable } from '../statement.ts';

export interface MigrationContext {
  readonly schema: SchemaModule;
  readonly types: ColumnTypes;
  /** What no builder says. */
  raw(text: string): Compilable<unknown>;
}

/** One step forward; its place in the list is the schema's version. Once released, a migration never changes. */
export interface Migration {
  readonly name: string;
  statements(context: MigrationContext): readonly Compilable<unknown>[];
}

import { DatabaseSync } from 'node:sqlite';
import { createMemoryStore } from '../../src/storage/memory/create-memory-store.ts';
import type { EffectSettlement, QueueCommit } from '../../src/storage/queues.ts';
import { sqliteDialect } from '../../src/storage/sql/dialect.ts';
import { migrate } from '../../src/storage/sql/migrations/migrate.ts';
import { createSqlParts } from '../../src/storage/sql/sql-store.ts';
import { StatementCompiler } from '../../src/storage/sql/statement.ts';
import { SqliteEngine } from '../../src/storage/sqlite/engine.ts';
import type { Store } from '../../src/storage/store.ts';

export type StoreKind = 'memory' | 'sqlite';

/** A store of its own for one run. SQLite's is the real one, except that its pages are in memory. */
export async function openSimStore(kind: StoreKind): Promise<Store> {
  if (kind === 'memory') return createMemoryStore();
  const engine = new SqliteEngine(new DatabaseSync(':memory:', { enableForeignKeyConstraints: true }));
  const compiler = new StatementCompiler(sqliteDialect);
  await migrate(engine, compiler);
  return {
    isShared: false,
    ...createSqlParts(engine, compiler),
    signingKey: new Uint8Array(32),
    ping: async () => undefined,
    snapshots: undefined,
    close: async () => engine.close(),
  };
}

export interface Tap {
  readonly onCommitted: (commit: QueueCommit) => void;
  readonly onStale: () => void;
  readonly onSettled: (effect: string, settlement: EffectSettlement) => void;
}

/** The same store; whoever listens hears what is stored before whoever stored it. */
export function tapCommits(store: Store, { onCommitted, onStale, onSettled }: Tap): Store {
  const queues = {
    ...store.queues,
    commit: async (commit: QueueCommit) => {
      const answer = await store.queues.commit(commit);
      if (answer === 'committed') onCommitted(commit);
      else onStale();
      return answer;
    },
    settleEffect: async (id: string, holder: string, settlement: EffectSettlement) => {
      const answer = await store.queues.settleEffect(id, holder, settlement);
      if (answer === 'settled') onSettled(id, settlement);
      return answer;
    },
  };
  return { ...store, queues };
}

import { type ExpressionBuilder, sql } from 'kysely';
import type { EffectKey, EffectSettlement, EffectStore } from '../queues.ts';
import { heldRows, leasedWork, UNLEASED, workStatements } from './leased-work.ts';
import { execute, first, listRows, type Operation, type SqlEngine } from './operation.ts';
import { toEffect } from './rows.ts';
import type { Schema } from './schema.ts';
import type { StatementCompiler } from './statement.ts';

type EffectStatements = ReturnType<typeof effectStatements>;

const KEY = ['id'] as const;
const FAILED = { ...UNLEASED, attempts: sql`attempts + 1` };

export function createEffectStore(engine: SqlEngine, compiler: StatementCompiler): EffectStore {
  const statements = effectStatements(compiler);
  return {
    ...leasedWork(engine, statements, { key: KEY, toItem: toEffect }),
    list: (queueId) => engine.read(() => listRows(statements.list, { queueId }, toEffect)),
    settle: ({ id }, holder, settlement) =>
      engine.write(function* () {
        return (yield* settle(statements, { id, holder }, settlement)) === 0 ? 'lost' : 'settled';
      }),
    measure: () =>
      engine.read(function* () {
        const row = yield* first(statements.measure, {});
        return { waiting: row?.waiting ?? 0, parked: row?.parked ?? 0, oldestDueAt: row?.oldest ?? null };
      }),
    unpark: (queueId, at) => engine.write(() => execute(statements.unpark, { queueId, at })),
  };
}

function settle(
  statements: EffectStatements,
  lease: EffectKey & { readonly holder: string },
  settlement: EffectSettlement,
): Operation<number> {
  switch (settlement.kind) {
    case 'done':
      return execute(statements.remove, lease);
    case 'retry':
      return execute(statements.retry, { ...lease, dueAt: settlement.dueAt, error: settlement.error });
    case 'postpone':
      return execute(statements.postpone, { ...lease, dueAt: settlement.dueAt });
    case 'park':
      return execute(statements.park, { ...lease, at: settlement.at, error: settlement.error });
  }
}

export function effectStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  // The first of a stream stays the first until it is done: new effects come after it.
  const waiting = builder
    .selectFrom('effects')
    .where('effects.parked_at', 'is', null)
    .where(isFirstOfStream)
    .where(isOfPresentQueue);
  const held = heldRows<EffectKey>(compiler, { table: 'effects', key: KEY });
  return {
    ...workStatements<EffectKey, 'effects'>(compiler, {
      table: 'effects',
      key: KEY,
      waiting,
      order: ['version', 'ordinal'],
    }),
    remove: held.remove(),
    retry: held.update<{ dueAt: number; error: string }>((param) => ({
      ...FAILED,
      due_at: param('dueAt'),
      last_error: param('error'),
    })),
    postpone: held.update<{ dueAt: number }>((param) => ({ ...UNLEASED, due_at: param('dueAt') })),
    park: held.update<{ at: number; error: string }>((param) => ({
      ...FAILED,
      parked_at: param('at'),
      last_error: param('error'),
    })),
    list: compiler.statement<{ queueId: string }>()((param) =>
      builder
        .selectFrom('effects')
        .selectAll()
        .where('queue_id', '=', param('queueId'))
        .orderBy('version')
        .orderBy('ordinal'),
    ),
    measure: compiler.statement<object>()(() =>
      builder
        .selectFrom('effects')
        .where(isOfPresentQueue)
        // All of it is work that waits: what is done is deleted.
        .where('id', '>', '')
        .select((eb) => [
          eb.fn.countAll<number>().as('waiting'),
          eb.fn.count<number>('parked_at').as('parked'),
          sql<number | null>`min(case when parked_at is null then due_at end)`.as('oldest'),
        ]),
    ),
    unpark: compiler.statement<{ queueId: string; at: number }>()((param) =>
      builder
        .updateTable('effects')
        .set({ parked_at: null, due_at: param('at'), attempts: 0, last_error: null })
        .where('queue_id', '=', param('queueId'))
        .where('parked_at', 'is not', null)
        .where(isOfPresentQueue),
    ),
  };
}

function isFirstOfStream(eb: ExpressionBuilder<Schema, 'effects'>) {
  return eb.not(
    eb.exists(
      eb
        .selectFrom('effects as earlier')
        .select(sql.lit(1).as('one'))
        .whereRef('earlier.queue_id', '=', 'effects.queue_id')
        .whereRef('earlier.stream', '=', 'effects.stream')
        .where(({ refTuple, eb }) =>
          eb(refTuple('earlier.version', 'earlier.ordinal'), '<', refTuple('effects.version', 'effects.ordinal')),
        ),
    ),
  );
}

function isOfPresentQueue(eb: ExpressionBuilder<Schema, 'effects'>) {
  return eb.exists(
    eb
      .selectFrom('queues')
      .select(sql.lit(1).as('one'))
      .whereRef('queues.id', '=', 'effects.queue_id')
      .where('queues.deleted_at', 'is', null),
  );
}

import { type ExpressionBuilder, sql } from 'kysely';
import type { Instant } from '../../lib/clock.ts';
import { keyOfEffect } from '../past.ts';
import type { EffectKey, EffectSettlement, EffectStore } from '../queues.ts';
import { heldRows, leasedWork, UNLEASED, workStatements } from './leased-work.ts';
import { all, execute, executeAll, first, listRows, type Operation, type SqlEngine } from './operation.ts';
import { beginFacts, endFacts, factStatements } from './past-facts.ts';
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
    settle: ({ id }, holder, settlement, at) =>
      engine.write(function* () {
        const before = at === undefined ? undefined : yield* first(statements.find, { id });
        if ((yield* settle(statements, { id, holder }, settlement)) === 0) return 'lost';
        if (before !== undefined && at !== undefined) yield* recordTries(statements, [before], at);
        return 'settled';
      }),
    measure: () =>
      engine.read(function* () {
        const row = yield* first(statements.measure, {});
        return { waiting: row?.waiting ?? 0, parked: row?.parked ?? 0, oldestDueAt: row?.oldest ?? null };
      }),
    unpark: (queueId, at) =>
      engine.write(function* () {
        const parked = (yield* all(statements.list, { queueId })).filter((row) => row.parked_at !== null);
        const unparked = yield* execute(statements.unpark, { queueId, at });
        yield* recordTries(statements, parked, at);
        return unparked;
      }),
  };
}

/** Explanations tell of effects that failed at least once, so that their past is kept. */
// SPEC Y4
function* recordTries(
  statements: EffectStatements,
  changed: readonly Schema['effects'][],
  at: Instant,
): Operation<void> {
  for (const before of changed) {
    const { id, queue_id: subject } = before;
    if (before.attempts > 0) yield* executeAll(endFacts(statements, subject, { keys: [keyOfEffect(id)], at }));
    const row = yield* first(statements.find, { id });
    if (row === undefined || row.attempts === 0) continue;
    const fact = { subject, key: keyOfEffect(id), body: JSON.stringify(toEffect(row)) };
    yield* executeAll(beginFacts(statements, [fact], at));
  }
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
    ...factStatements(compiler),
    find: compiler.statement<EffectKey>()((param) =>
      builder.selectFrom('effects').selectAll().where('id', '=', param('id')),
    ),
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

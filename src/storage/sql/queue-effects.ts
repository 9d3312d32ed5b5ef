import { type ExpressionBuilder, sql } from 'kysely';
import type { Instant } from '../../lib/clock.ts';
import type { EffectClaim, EffectSettlement, QueueStore, StoredEffect } from '../queues.ts';
import { all, allOf, execute, executeAll, type Operation, type SqlEngine, together } from './operation.ts';
import { toEffect } from './rows.ts';
import type { Schema } from './schema.ts';
import { callOf, type StatementCompiler } from './statement.ts';

type EffectStatements = ReturnType<typeof effectStatements>;

/** No instant is earlier. Said although it says nothing: an index is then searched from its beginning. */
const EVER = sql.lit(Number.MIN_SAFE_INTEGER);
const UNLEASED = { lease_holder: null, lease_until: null };

export function effectOperations(engine: SqlEngine, compiler: StatementCompiler) {
  const statements = effectStatements(compiler);
  return {
    listEffects: (queueId) =>
      engine.read(function* () {
        return (yield* all(statements.list, { queueId })).map(toEffect);
      }),
    claimEffects: (claim) => engine.write(() => claimEffects(statements, claim)),
    settleEffect: (id, holder, settlement) =>
      engine.write(function* () {
        return (yield* settle(statements, { id, holder }, settlement)) === 0 ? 'lost' : 'settled';
      }),
    renewLeases: (holder, ids, leaseUntil) =>
      engine.write(function* () {
        const renewed = new Set((yield* allOf(statements.renew({ holder, leaseUntil }, ids))).map(({ id }) => id));
        return [...new Set(ids)].filter((id) => renewed.has(id));
      }),
    findNextEffectDueAt: () => engine.snapshot(() => findNextDueAt(statements)),
    endLeases: (holder) =>
      engine.write(() =>
        holder === undefined ? execute(statements.endLeases, {}) : execute(statements.endLeasesOf, { holder }),
      ),
    unparkEffects: (queueId, at) => engine.write(() => execute(statements.unpark, { queueId, at })),
  } satisfies Partial<QueueStore>;
}

/**
 * Two servers that claim at once pass over what the other has locked; what the other leased just before is looked at
 * again when its row is locked. The first of a stream stays the first until it is done: new effects come after it.
 */
function* claimEffects(statements: EffectStatements, claim: EffectClaim): Operation<readonly StoredEffect[]> {
  const { holder, now, leaseUntil, limit } = claim;
  const rows = yield* all(statements.findClaimable, { now, limit });
  const ids = rows.map(({ id }) => id);
  yield* executeAll(statements.lease({ holder, leaseUntil }, ids));
  return rows.map(toEffect);
}

function settle(
  statements: EffectStatements,
  lease: { readonly id: string; readonly holder: string },
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

function* findNextDueAt(statements: EffectStatements): Operation<Instant | undefined> {
  const [unleased, leased] = yield* together(
    callOf(statements.findNextUnleased, {}),
    callOf(statements.listLeased, {}),
  );
  const instants = [...unleased, ...leased].map((row) => Math.max(row.due_at, row.lease_until ?? row.due_at));
  return instants.length === 0 ? undefined : Math.min(...instants);
}

export function effectStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    ...claimStatements(compiler),
    ...settlementStatements(compiler),
    list: compiler.statement<{ queueId: string }>()((param) =>
      builder
        .selectFrom('effects')
        .selectAll()
        .where('queue_id', '=', param('queueId'))
        .orderBy('version')
        .orderBy('ordinal'),
    ),
    endLeases: compiler.statement<object>()(() =>
      builder.updateTable('effects').set(UNLEASED).where('lease_until', '>=', EVER),
    ),
    endLeasesOf: compiler.statement<{ holder: string }>()((param) =>
      builder
        .updateTable('effects')
        .set(UNLEASED)
        .where('lease_until', '>=', EVER)
        .where('lease_holder', '=', param('holder')),
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

function claimStatements(compiler: StatementCompiler) {
  const { builder, hasRowLocks } = compiler.dialect;
  const first = builder
    .selectFrom('effects')
    .where('effects.parked_at', 'is', null)
    .where(isFirstOfStream)
    .where(isOfPresentQueue);
  return {
    findClaimable: compiler.statement<{ now: number; limit: number }>()((param) =>
      first
        .selectAll('effects')
        .where('due_at', '<=', param('now'))
        .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<=', param('now'))]))
        .orderBy('due_at')
        .orderBy('version')
        .orderBy('ordinal')
        .limit(param('limit'))
        .$if(hasRowLocks, (query) => query.forUpdate().skipLocked()),
    ),
    lease: compiler.list<{ holder: string; leaseUntil: number }, string>()((param, ids) =>
      builder
        .updateTable('effects')
        .set({ lease_holder: param('holder'), lease_until: param('leaseUntil') })
        .where('id', 'in', ids),
    ),
    renew: compiler.list<{ holder: string; leaseUntil: number }, string>()((param, ids) =>
      builder
        .updateTable('effects')
        .set({ lease_until: param('leaseUntil') })
        .where('id', 'in', ids)
        .where('lease_holder', '=', param('holder'))
        .returning('id'),
    ),
    findNextUnleased: compiler.statement<object>()(() =>
      first
        .select(['due_at', 'lease_until'])
        .where('lease_until', 'is', null)
        .where('due_at', '>=', EVER)
        .orderBy('due_at')
        .limit(1),
    ),
    listLeased: compiler.statement<object>()(() =>
      first.select(['due_at', 'lease_until']).where('lease_until', '>=', EVER),
    ),
  };
}

function settlementStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  const update = builder.updateTable('effects').set(UNLEASED);
  type Lease = { id: string; holder: string };
  return {
    remove: compiler.statement<Lease>()((param) =>
      builder.deleteFrom('effects').where('id', '=', param('id')).where('lease_holder', '=', param('holder')),
    ),
    retry: compiler.statement<Lease & { dueAt: number; error: string }>()((param) =>
      update
        .set((eb) => ({ due_at: param('dueAt'), last_error: param('error'), attempts: eb('attempts', '+', 1) }))
        .where('id', '=', param('id'))
        .where('lease_holder', '=', param('holder')),
    ),
    postpone: compiler.statement<Lease & { dueAt: number }>()((param) =>
      update
        .set({ due_at: param('dueAt') })
        .where('id', '=', param('id'))
        .where('lease_holder', '=', param('holder')),
    ),
    park: compiler.statement<Lease & { at: number; error: string }>()((param) =>
      update
        .set((eb) => ({ parked_at: param('at'), last_error: param('error'), attempts: eb('attempts', '+', 1) }))
        .where('id', '=', param('id'))
        .where('lease_holder', '=', param('holder')),
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

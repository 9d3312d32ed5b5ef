import type { Instant } from '../../lib/clock.ts';
import { keyOfEffect } from '../past.ts';
import type { EffectKey, EffectSettlement, EffectStore } from '../queues.ts';
import { leasedWork, RELEASED, workStatements } from './leased-work.ts';
import { all, execute, executeAll, first, listRows, type Operation, type SqlEngine } from './operation.ts';
import { beginFacts, endFacts, factStatements } from './past-facts.ts';
import { toEffect } from './rows.ts';
import type { Schema } from './schema.ts';
import type { StatementCompiler } from './statement.ts';

type EffectStatements = ReturnType<typeof effectStatements>;

const KEY = ['id'] as const;
const HELD = 'where id = :id and lease_holder = :holder';
const FAILED = `${RELEASED}, attempts = attempts + 1, last_error = :error` as const;
const OF_PRESENT_QUEUE = `exists (
  select 1 from queues where queues.id = effects.queue_id and queues.deleted_at is null)`;
/** The first of a stream stays the first until it is done: new effects come after it. */
const WAITING = `effects.parked_at is null and not exists (
    select 1 from effects as earlier where earlier.queue_id = effects.queue_id and earlier.stream = effects.stream
    and (earlier.version, earlier.ordinal) < (effects.version, effects.ordinal))
  and ${OF_PRESENT_QUEUE}`;

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
  const { sql } = compiler;
  return {
    ...workStatements<EffectKey, 'effects'>(compiler, {
      table: 'effects',
      key: KEY,
      waiting: WAITING,
      order: ['version', 'ordinal'],
    }),
    ...factStatements(compiler),
    find: sql('select * from effects where id = :id'),
    remove: sql(`delete from effects ${HELD}`),
    retry: sql(`update effects set ${FAILED}, due_at = :dueAt ${HELD}`),
    postpone: sql(`update effects set ${RELEASED}, due_at = :dueAt ${HELD}`),
    park: sql(`update effects set ${FAILED}, parked_at = :at ${HELD}`),
    list: sql('select * from effects where queue_id = :queueId order by version, ordinal'),
    // All of it is work that waits: an effect that is done is deleted. The condition on the id makes SQLite use an index.
    measure: sql(`
      select count(*) as waiting, count(parked_at) as parked, min(case when parked_at is null then due_at end) as oldest
      from effects where ${OF_PRESENT_QUEUE} and id > ''`),
    unpark: sql(`
      update effects set parked_at = null, due_at = :at, attempts = 0, last_error = null
      where queue_id = :queueId and parked_at is not null and ${OF_PRESENT_QUEUE}`),
  };
}

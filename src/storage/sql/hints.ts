import { type ExpressionBuilder, sql } from 'kysely';
import type { Instant } from '../../lib/clock.ts';
import type { HintKey, HintRow, HintSettlement, HintStore } from '../hints.ts';
import { heldRows, leasedWork, UNLEASED, workStatements } from './leased-work.ts';
import { all, execute, executeAll, first, listRows, type Operation, type SqlEngine } from './operation.ts';
import { fromHint, toHint } from './rows.ts';
import type { Schema } from './schema.ts';
import { callOf, type StatementCompiler } from './statement.ts';

type HintStatements = ReturnType<typeof hintStatements>;

const KEY = ['host', 'key'] as const;
/** Removed in one transaction: it is over soon, and other writes come in between. */
const REMOVED_AT_ONCE = 1_000;
/** By the column itself, SQLite would read the whole table, which is in that order, and not only what is due. */
const HOST = sql<string>`host || ''`;

export function createHintStore(engine: SqlEngine, compiler: StatementCompiler): HintStore {
  const statements = hintStatements(compiler);
  return {
    ...leasedWork(engine, statements, { key: KEY, toItem: toHint }),
    add: (hints) => engine.write(() => add(statements, hints)),
    ensure: (hint) => engine.write(() => executeAll([callOf(statements.ensure, fromHint(hint))])),
    settle: ({ host, key, version }, holder, settlement) =>
      engine.write(() => settle(statements, { host, key, version, holder }, settlement)),
    countOverdue: (before) =>
      engine.read(function* () {
        return (yield* first(statements.countOverdue, { before }))?.count ?? 0;
      }),
    countDue: (now) =>
      engine.read(() =>
        listRows(statements.countDue, { now }, ({ host, count, oldest }) => ({ host, count, oldestDueAt: oldest })),
      ),
    async tidy(now) {
      let total = 0;
      for (let removed = REMOVED_AT_ONCE; removed === REMOVED_AT_ONCE; total += removed) {
        removed = await engine.write(() => removeSome(statements, now));
      }
      return total;
    },
  };
}

function* add(statements: HintStatements, hints: readonly HintRow[]): Operation<number> {
  if (hints.length === 0) return 0;
  const results = yield statements.add(inKeyOrder(latestOfEach(hints)).map(fromHint));
  return results.reduce((sum, { changes }) => sum + changes, 0);
}

/** Several of one key in one call: the last body, and the earliest due time. One statement may meet each row once. */
function latestOfEach(hints: readonly HintRow[]): HintRow[] {
  return [...Map.groupBy(hints, ({ host, key }) => JSON.stringify([host, key])).values()].map((same) => ({
    ...(same.at(-1) as HintRow),
    dueAt: Math.min(...same.map(({ dueAt }) => dueAt)),
  }));
}

/** Two servers that write the same rows lock them in one order, so neither waits for the other for ever. */
function inKeyOrder(hints: readonly HintRow[]): HintRow[] {
  const textOf = ({ host, key }: HintRow) => `${host} ${key}`;
  return hints.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
}

function* settle(
  statements: HintStatements,
  lease: HintKey & { readonly holder: string },
  settlement: HintSettlement,
): Operation<'settled' | 'again' | 'lost'> {
  if ((yield* settleAsSeen(statements, lease, settlement)) > 0) return 'settled';
  const body = bodyOf(settlement);
  return (yield* execute(statements.release, { ...lease, body })) > 0 ? 'again' : 'lost';
}

// SPEC G129
function settleAsSeen(
  statements: HintStatements,
  lease: HintKey & { readonly holder: string },
  settlement: HintSettlement,
): Operation<number> {
  switch (settlement.kind) {
    case 'done':
      return execute(statements.remove, lease);
    case 'remember':
      return execute(statements.remember, { ...lease, until: settlement.until });
    case 'retry':
      return execute(statements.retry, { ...lease, dueAt: settlement.dueAt });
    case 'postpone':
      return execute(statements.postpone, { ...lease, dueAt: settlement.dueAt, body: bodyOf(settlement) });
  }
}

/** Null: the stored body stays. */
function bodyOf(settlement: HintSettlement): string | null {
  return settlement.kind === 'postpone' ? (settlement.body ?? null) : null;
}

function* removeSome(statements: HintStatements, now: Instant): Operation<number> {
  const old = yield* all(statements.listForgotten, { now, limit: REMOVED_AT_ONCE });
  yield* executeAll(old.map(({ host, key }) => callOf(statements.removeForgotten, { host, key, now })));
  return old.length;
}

export function hintStatements(compiler: StatementCompiler) {
  return {
    ...workStatements<HintKey, 'hints'>(compiler, {
      table: 'hints',
      key: KEY,
      waiting: waitingIn(compiler),
      order: KEY,
    }),
    ...additionStatements(compiler),
    ...countStatements(compiler),
    ...settlementStatements(compiler),
    ...tidyStatements(compiler),
  };
}

function waitingIn({ dialect }: StatementCompiler) {
  return dialect.builder.selectFrom('hints').where('remembered_until', 'is', null);
}

type Conflict = ExpressionBuilder<Schema & { excluded: Schema['hints'] }, 'hints' | 'excluded'>;

function additionStatements(compiler: StatementCompiler) {
  return {
    add: compiler.insert('hints', (insert) =>
      insert.onConflict((conflict) =>
        conflict
          .columns(['host', 'key'])
          .doUpdateSet((eb) => ({
            kind: eb.ref('excluded.kind'),
            body: eb.ref('excluded.body'),
            received_at: eb
              .case()
              .when(eb.and([isWaiting(eb), eb('hints.body', '=', eb.ref('excluded.body'))]))
              .then(eb.ref('hints.received_at'))
              .else(eb.ref('excluded.received_at'))
              .end(),
            due_at: earlierDueTime(eb),
            version: eb('hints.version', '+', 1),
            remembered_until: null,
          }))
          .where((eb) => eb.or([isWaiting(eb), eb('hints.remembered_until', '<', eb.ref('excluded.received_at'))])),
      ),
    ),
    ensure: compiler.insertOne('hints', (insert) =>
      insert.onConflict((conflict) =>
        conflict
          .columns(['host', 'key'])
          .doUpdateSet((eb) => ({
            due_at: earlierDueTime(eb),
            version: eb
              .case()
              .when('hints.lease_until', 'is', null)
              .then(eb.ref('hints.version'))
              .else(eb('hints.version', '+', 1))
              .end(),
          }))
          .where(isWaiting),
      ),
    ),
  };
}

function isWaiting(eb: Conflict) {
  return eb('hints.remembered_until', 'is', null);
}

function earlierDueTime(eb: Conflict) {
  return eb
    .case()
    .when(eb.and([isWaiting(eb), eb('hints.due_at', '<', eb.ref('excluded.due_at'))]))
    .then(eb.ref('hints.due_at'))
    .else(eb.ref('excluded.due_at'))
    .end();
}

function countStatements(compiler: StatementCompiler) {
  const waiting = waitingIn(compiler);
  return {
    countOverdue: compiler.statement<{ before: number }>()((param) =>
      waiting.select((eb) => eb.fn.countAll<number>().as('count')).where('due_at', '<', param('before')),
    ),
    countDue: compiler.statement<{ now: number }>()((param) =>
      waiting
        .select((eb) => [HOST.as('host'), eb.fn.countAll<number>().as('count'), eb.fn.min('due_at').as('oldest')])
        .where('due_at', '<=', param('now'))
        .groupBy(HOST),
    ),
  };
}

function settlementStatements(compiler: StatementCompiler) {
  const held = heldRows<HintKey>(compiler, { table: 'hints', key: KEY });
  /** Not if the hint arrived again since the claim. */
  const seen = heldRows<HintKey>(compiler, { table: 'hints', key: [...KEY, 'version'] });
  const untried = { ...UNLEASED, attempts: 0 };
  const given = (body: string | null) => sql<string>`coalesce(${body}, body)`;
  return {
    remove: seen.remove(),
    postpone: seen.update<{ dueAt: number; body: string | null }>((param) => ({
      ...untried,
      due_at: param('dueAt'),
      body: given(param('body')),
    })),
    remember: held.update<{ until: number }>((param) => ({ ...untried, remembered_until: param('until') })),
    retry: held.update<{ dueAt: number }>((param) => ({
      ...UNLEASED,
      due_at: param('dueAt'),
      attempts: sql`attempts + 1`,
    })),
    release: held.update<{ body: string | null }>((param) => ({ ...untried, body: given(param('body')) })),
  };
}

function tidyStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    listForgotten: compiler.statement<{ now: number; limit: number }>()((param) =>
      builder
        .selectFrom('hints')
        .select(['host', 'key'])
        .where('remembered_until', '<', param('now'))
        .orderBy('remembered_until')
        .limit(param('limit')),
    ),
    /** Told of again meanwhile, it waits. */
    removeForgotten: compiler.statement<{ host: string; key: string; now: number }>()((param) =>
      builder
        .deleteFrom('hints')
        .where('host', '=', param('host'))
        .where('key', '=', param('key'))
        .where('remembered_until', '<', param('now')),
    ),
  };
}

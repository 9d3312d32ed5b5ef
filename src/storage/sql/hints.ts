import type { Instant } from '../../lib/clock.ts';
import type { HintKey, HintRow, HintSettlement, HintStore } from '../hints.ts';
import { leasedWork, RELEASED, workStatements } from './leased-work.ts';
import { all, execute, executeAll, first, listRows, type Operation, type SqlEngine } from './operation.ts';
import { fromHint, toHint } from './rows.ts';
import { callOf, type StatementCompiler } from './statement.ts';

type HintStatements = ReturnType<typeof hintStatements>;

const KEY = ['host', 'key'] as const;
/** Removed in one transaction: it is over soon, and other writes come in between. */
const REMOVED_AT_ONCE = 1_000;
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
  const newBody = bodyOf(settlement);
  return (yield* execute(statements.release, { ...lease, newBody })) > 0 ? 'again' : 'lost';
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
      return execute(statements.postpone, { ...lease, dueAt: settlement.dueAt, newBody: bodyOf(settlement) });
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

const WAITING = 'remembered_until is null';
const EARLIER_DUE_TIME = `case when hints.${WAITING} and hints.due_at < excluded.due_at then hints.due_at
  else excluded.due_at end` as const;
const HELD = 'host = :host and key = :key and lease_holder = :holder';
/** Not if the hint arrived again since the claim. */
const SEEN = `${HELD} and version = :version` as const;
const UNTRIED = `${RELEASED}, attempts = 0` as const;

export function hintStatements(compiler: StatementCompiler) {
  const { sql } = compiler;
  return {
    ...workStatements<HintKey, 'hints'>(compiler, { table: 'hints', key: KEY, waiting: WAITING, order: KEY }),
    add: compiler.insert(
      'hints',
      `on conflict (host, key) do update set
        kind = excluded.kind, body = excluded.body, due_at = ${EARLIER_DUE_TIME}, version = hints.version + 1,
        received_at = case when hints.${WAITING} and hints.body = excluded.body then hints.received_at
          else excluded.received_at end,
        remembered_until = null
      where hints.${WAITING} or hints.remembered_until < excluded.received_at`,
    ),
    ensure: compiler.insertOne(
      'hints',
      `on conflict (host, key) do update set
        due_at = ${EARLIER_DUE_TIME},
        version = case when hints.lease_until is null then hints.version else hints.version + 1 end
      where hints.${WAITING}`,
    ),
    countOverdue: sql(`select count(*) as count from hints where ${WAITING} and due_at < :before`),
    /** By the column itself, SQLite would read the whole table, which is in that order, and not only what is due. */
    countDue: sql(`
      select host || '' as host, count(*) as count, min(due_at) as oldest from hints
      where ${WAITING} and due_at <= :now group by host || ''`),
    remove: sql(`delete from hints where ${SEEN}`),
    postpone: sql(`update hints set ${UNTRIED}, due_at = :dueAt, body = coalesce(:newBody, body) where ${SEEN}`),
    remember: sql(`update hints set ${UNTRIED}, remembered_until = :until where ${HELD}`),
    retry: sql(`update hints set ${RELEASED}, due_at = :dueAt, attempts = attempts + 1 where ${HELD}`),
    release: sql(`update hints set ${UNTRIED}, body = coalesce(:newBody, body) where ${HELD}`),
    listForgotten: sql(`
      select host, key from hints where remembered_until < :now order by remembered_until limit :limit`),
    /** One that arrived again meanwhile waits. */
    removeForgotten: sql('delete from hints where host = :host and key = :key and remembered_until < :now'),
  };
}

import type { Instant } from '../../lib/clock.ts';
import type { HintClaim, HintKey, HintRow, HintSettlement, HintStore, StoredHint } from '../hints.ts';
import { hintStatements } from './hint-statements.ts';
import { all, execute, executeAll, first, type Operation, type SqlEngine, together } from './operation.ts';
import { fromHint, toHint } from './rows.ts';
import { callOf, type StatementCompiler } from './statement.ts';

type HintStatements = ReturnType<typeof hintStatements>;

/** Removed in one transaction: it is over soon, and other writes come in between. */
const REMOVED_AT_ONCE = 1_000;

export function createHintStore(engine: SqlEngine, compiler: StatementCompiler): HintStore {
  const statements = hintStatements(compiler);
  return {
    add: (hints) => engine.write(() => add(statements, hints)),
    ensure: (hint) => engine.write(() => executeAll([callOf(statements.ensure, fromHint(hint))])),
    claim: (claim) => engine.write(() => claimSome(statements, claim)),
    settle: ({ host, key, version }, holder, settlement) =>
      engine.write(() => settle(statements, { host, key, version, holder }, settlement)),
    renewLeases: (holder, hints, leaseUntil) =>
      engine.write(() =>
        executeAll(
          inKeyOrder(hints).map(({ host, key }) => callOf(statements.renew, { host, key, holder, leaseUntil })),
        ),
      ),
    findNextDueAt: () => engine.snapshot(() => findNextDueAt(statements)),
    countOverdue: (before) =>
      engine.read(function* () {
        return (yield* first(statements.countOverdue, { before }))?.count ?? 0;
      }),
    countDue: (now) =>
      engine.read(function* () {
        const rows = yield* all(statements.countDue, { now });
        return rows.map(({ host, count, oldest }) => ({ host, count, oldestDueAt: oldest }));
      }),
    async tidy(now) {
      let total = 0;
      for (let removed = REMOVED_AT_ONCE; removed === REMOVED_AT_ONCE; total += removed) {
        removed = await engine.write(() => removeSome(statements, now));
      }
      return total;
    },
    endLeases: (holder) =>
      engine.write(() =>
        holder === undefined ? execute(statements.endLeases, {}) : execute(statements.endLeasesOf, { holder }),
      ),
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
function inKeyOrder<Row extends HintKey>(hints: readonly Row[]): Row[] {
  const textOf = ({ host, key }: HintKey) => `${host} ${key}`;
  return hints.toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
}

/** Two servers that claim at once pass over what the other has locked. */
function* claimSome(statements: HintStatements, claim: HintClaim): Operation<readonly StoredHint[]> {
  const { holder, now, leaseUntil, limit } = claim;
  const rows = yield* all(statements.findClaimable, { now, limit });
  yield* executeAll(rows.map(({ host, key }) => callOf(statements.lease, { host, key, holder, leaseUntil })));
  return rows.map(toHint);
}

type Lease = HintKey & { readonly version: number; readonly holder: string };

function* settle(
  statements: HintStatements,
  lease: Lease,
  settlement: HintSettlement,
): Operation<'settled' | 'again' | 'lost'> {
  if ((yield* settleAsSeen(statements, lease, settlement)) > 0) return 'settled';
  const body = settlement.kind === 'later' ? settlement.body : undefined;
  const released = yield* body === undefined
    ? execute(statements.release, lease)
    : execute(statements.releaseWith, { ...lease, body });
  return released > 0 ? 'again' : 'lost';
}

// SPEC G129
function settleAsSeen(statements: HintStatements, lease: Lease, settlement: HintSettlement): Operation<number> {
  if (settlement.kind === 'done') return execute(statements.remove, lease);
  if (settlement.kind === 'remember') return execute(statements.remember, { ...lease, until: settlement.until });
  const { dueAt, isFailure, body } = settlement;
  if (isFailure) return execute(statements.fail, { ...lease, dueAt });
  return body === undefined
    ? execute(statements.postpone, { ...lease, dueAt })
    : execute(statements.replace, { ...lease, dueAt, body });
}

function* findNextDueAt(statements: HintStatements): Operation<Instant | undefined> {
  const [unleased, leased] = yield* together(
    callOf(statements.findNextUnleased, {}),
    callOf(statements.listLeased, {}),
  );
  const instants = [...unleased, ...leased].map((row) => Math.max(row.due_at, row.lease_until ?? row.due_at));
  return instants.length === 0 ? undefined : Math.min(...instants);
}

function* removeSome(statements: HintStatements, now: Instant): Operation<number> {
  const old = yield* all(statements.listForgotten, { now, limit: REMOVED_AT_ONCE });
  yield* executeAll(old.map(({ host, key }) => callOf(statements.removeForgotten, { host, key, now })));
  return old.length;
}

import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { Instant } from '../../lib/clock.ts';
import type { LeasedWork } from '../leased-work.ts';
import { all, execute, executeAll, type Operation, type SqlEngine, together } from './operation.ts';
import type { Schema } from './schema.ts';
import { callOf, type Placeholders, type StatementCompiler } from './statement.ts';

/** No instant is earlier. Said although it says nothing: an index is then searched from its beginning. */
const EVER = sql.lit(Number.MIN_SAFE_INTEGER);
export const UNLEASED = { lease_holder: null, lease_until: null };

type Work = 'effects' | 'hints' | 'webhook_deliveries';

/** A table whose rows are leased, and the columns that name a row. */
export interface LeasedTable<Key> {
  readonly table: Work | 'ingest_leases';
  readonly key: readonly (keyof Key & string)[];
}

/** A table of leased work. */
export interface WorkTable<Key, Table extends Work> extends LeasedTable<Key> {
  readonly table: Table;
  /** Items that can be claimed once they are due. */
  readonly waiting: SelectQueryBuilder<Schema, Table, object>;
  /** Orders items that are due at the same instant. */
  readonly order: readonly (keyof Schema[Table] & string)[];
}

type LeaseColumns = { due_at: number; lease_holder: string | null; lease_until: number | null };
type Lease = { readonly holder: string; readonly leaseUntil: Instant };
type Held = Pick<Lease, 'holder'>;

/** Changes of a row whose lease the holder still has. */
export function heldRows<Key>(compiler: StatementCompiler, { table, key }: LeasedTable<Key>) {
  const { builder, work } = leasedIn(compiler, table);
  const isHeld = (param: Placeholders<Key & Held>) =>
    sql<boolean>`${isNamed(key, param)} and lease_holder = ${param('holder')}`;
  return {
    remove: () => compiler.statement<Key & Held>()((param) => builder.deleteFrom(work).where(isHeld(param))),
    update: <Values = object>(set: (param: Placeholders<Values>) => object) =>
      compiler.statement<Key & Held & Values>()((param) =>
        builder
          .updateTable(work)
          .set(set(param))
          .where(isHeld(param as Placeholders<Key & Held>)),
      ),
  };
}

export function workStatements<Key, Table extends Work>(
  compiler: StatementCompiler,
  { table, key, order, waiting: of }: WorkTable<Key, Table>,
) {
  const { builder, work } = leasedIn(compiler, table);
  const waiting = of as unknown as SelectQueryBuilder<{ work: LeaseColumns }, 'work', object>;
  const endLeases = builder.updateTable(work).set(UNLEASED).where('lease_until', '>=', EVER);
  return {
    findClaimable: compiler.statement<{ now: number; limit: number }>()((param) =>
      waiting
        .selectAll(work)
        .where('due_at', '<=', param('now'))
        .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<=', param('now'))]))
        .orderBy('due_at')
        .$call((query) => order.reduce((ordered, column) => ordered.orderBy(column as 'due_at'), query))
        .limit(param('limit'))
        .$if(compiler.dialect.hasRowLocks, (query) => query.forUpdate().skipLocked()),
    ),
    lease: compiler.statement<Key & Lease>()((param) =>
      builder
        .updateTable(work)
        .set({ lease_holder: param('holder'), lease_until: param('leaseUntil') })
        .where(isNamed(key, param)),
    ),
    renew: heldRows(compiler, { table, key }).update<Lease>((param) => ({ lease_until: param('leaseUntil') })),
    findNextUnleased: compiler.statement<object>()(() =>
      waiting
        .select(['due_at', 'lease_until'])
        .where('lease_until', 'is', null)
        .where('due_at', '>=', EVER)
        .orderBy('due_at')
        .limit(1),
    ),
    listLeased: compiler.statement<object>()(() =>
      waiting.select(['due_at', 'lease_until']).where('lease_until', '>=', EVER),
    ),
    endLeases: compiler.statement<object>()(() => endLeases),
    endLeasesOf: compiler.statement<Held>()((param) => endLeases.where('lease_holder', '=', param('holder'))),
  };
}

/** The query builder takes any of the tables for one with the columns that they share. */
function leasedIn({ dialect }: StatementCompiler, table: LeasedTable<unknown>['table']) {
  return { builder: dialect.builder as unknown as Kysely<{ work: LeaseColumns }>, work: table as 'work' };
}

function isNamed<Key, Args extends Key>(key: readonly (keyof Key & string)[], param: Placeholders<Args>) {
  return sql<boolean>`${sql.join(
    key.map((column) => sql`${sql.ref(column)} = ${param(column)}`),
    sql` and `,
  )}`;
}

/** All of leased work but its settlements, which each kind of work has of its own. */
export function leasedWork<Item extends Key, Key, Row>(
  engine: SqlEngine,
  statements: ReturnType<typeof workStatements<Key, Work>>,
  { key, toItem }: { readonly key: readonly (keyof Key & string)[]; toItem(row: Row): Item },
): Omit<LeasedWork<Item, Key, never>, 'settle'> {
  const nameOf = (item: Key) => key.map((column) => item[column]).join(' ');
  return {
    /**
     * Two servers that claim at once pass over what the other has locked; what the other leased just before is looked
     * at again when its row is locked.
     */
    claim: ({ holder, now, leaseUntil, limit }) =>
      engine.write(function* () {
        const rows = yield* all(statements.findClaimable, { now, limit });
        const items = rows.map((row) => toItem(row as Row));
        yield* executeAll(items.map((item) => callOf(statements.lease, { ...item, holder, leaseUntil })));
        return items;
      }),
    renewLeases: (holder, items, leaseUntil) =>
      engine.write(function* () {
        const named = new Map(items.map((item) => [nameOf(item), item]));
        // Two servers that write the same rows lock them in one order, so that neither waits for the other for ever.
        const names = [...named.keys()].sort();
        const calls = names.map((name) =>
          callOf(statements.renew, { ...(named.get(name) as Key), holder, leaseUntil }),
        );
        const results = calls.length === 0 ? [] : yield calls;
        const renewed = new Set(names.filter((_, index) => results[index]?.changes === 1));
        return [...named].flatMap(([name, item]) => (renewed.has(name) ? [item] : []));
      }),
    findNextDueAt: () => engine.snapshot(() => nextDueAt(statements)),
    endLeases: (holder) =>
      engine.write(() =>
        holder === undefined ? execute(statements.endLeases, {}) : execute(statements.endLeasesOf, { holder }),
      ),
  };
}

export function* nextDueAt(
  statements: Pick<ReturnType<typeof workStatements>, 'findNextUnleased' | 'listLeased'>,
): Operation<Instant | undefined> {
  const [unleased, leased] = yield* together(
    callOf(statements.findNextUnleased, {}),
    callOf(statements.listLeased, {}),
  );
  const instants = [...unleased, ...leased].map((row) => Math.max(row.due_at, row.lease_until ?? row.due_at));
  return instants.length === 0 ? undefined : Math.min(...instants);
}

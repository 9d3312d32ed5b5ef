import type { Instant } from '../../lib/clock.ts';
import type { LeasedWork } from '../leased-work.ts';
import { all, execute, executeAll, type Operation, type SqlEngine, together } from './operation.ts';
import type { Schema } from './schema.ts';
import { callOf, type StatementCompiler } from './statement.ts';

/** Redundant, but an index is then searched from its beginning: no instant is earlier. */
const EVER = Number.MIN_SAFE_INTEGER;
export const UNLEASED = { lease_holder: null, lease_until: null };
export const RELEASED = 'lease_holder = null, lease_until = null';

type Work = 'effects' | 'hints' | 'webhook_deliveries';

export interface WorkTable<Key, Table extends Work> {
  readonly table: Table;
  /** The columns that name a row. */
  readonly key: readonly (keyof Key & string)[];
  /** The condition of items that can be claimed once they are due. */
  readonly waiting: string;
  /** Orders items that are due at the same instant. */
  readonly order: readonly (keyof Schema[Table] & string)[];
}

type Lease = { readonly holder: string; readonly leaseUntil: Instant };
type Due = Pick<Schema['effects'], 'due_at' | 'lease_until'>;

export function workStatements<Key, Table extends Work>(
  { raw }: StatementCompiler,
  { table, key, order, waiting }: WorkTable<Key, Table>,
) {
  const named = key.map((column) => `${column} = :${column}`).join(' and ');
  const endLeases = `update ${table} set ${RELEASED} where lease_until >= ${EVER}`;
  return {
    findClaimable: raw<{ now: number; limit: number }, Schema[Table]>(`
      select * from ${table}
      where ${waiting} and due_at <= :now and (lease_until is null or lease_until <= :now)
      order by ${['due_at', ...order].join(', ')} limit :limit for update skip locked`),
    lease: raw<Key & Lease>(`update ${table} set lease_holder = :holder, lease_until = :leaseUntil where ${named}`),
    renew: raw<Key & Lease>(`
      update ${table} set lease_until = :leaseUntil where ${named} and lease_holder = :holder`),
    findNextUnleased: raw<object, Due>(`
      select due_at, lease_until from ${table} where ${waiting} and lease_until is null and due_at >= ${EVER}
      order by due_at limit 1`),
    listLeased: raw<object, Due>(
      `select due_at, lease_until from ${table} where ${waiting} and lease_until >= ${EVER}`,
    ),
    endLeases: raw(endLeases),
    endLeasesOf: raw<Pick<Lease, 'holder'>>(`${endLeases} and lease_holder = :holder`),
  };
}

/** All of leased work but its settlements, which each kind of work has of its own. */
export function leasedWork<Item extends Key, Key, Row>(
  engine: SqlEngine,
  statements: ReturnType<typeof workStatements<Key, Work>>,
  { key, toItem }: { readonly key: readonly (keyof Key & string)[]; toItem(row: Row): Item },
): Omit<LeasedWork<Item, Key, never>, 'settle'> {
  const nameOf = (item: Key) => key.map((column) => item[column]).join(' ');
  return {
    /** Servers pass over what another locked, and look again at what another leased when its row is locked. */
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

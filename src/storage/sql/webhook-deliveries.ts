import { type ExpressionBuilder, sql } from 'kysely';
import type { Instant } from '../../lib/clock.ts';
import type { WorkClaim } from '../leased-work.ts';
import type { Delivery, DeliveryKey, DeliveryQuery, DeliverySettlement, DeliveryStore } from '../webhooks.ts';
import { feedInserts } from './feed-waiting.ts';
import { heldRows, leasedWork, UNLEASED, workStatements } from './leased-work.ts';
import {
  all,
  allOf,
  changes,
  execute,
  executeAll,
  first,
  listRows,
  type Operation,
  type SqlEngine,
} from './operation.ts';
import { toDelivery } from './rows.ts';
import type { Schema } from './schema.ts';
import { callOf, type StatementCompiler } from './statement.ts';

const KEY = ['id'] as const;
/** Attempts at one endpoint at the same time, on all servers together. */
const SHARE = 16;
/** An endpoint that failed last has this many, as each may take as long as the timeout. */
const SHARE_OF_FAILING = 2;
const PENDING = sql.lit('PENDING' as const);
const NONE: ReadonlySet<string> = new Set();

type DeliveryStatements = ReturnType<typeof deliveryStatements> & {
  readonly insertFeed: ReturnType<typeof feedInserts>;
};

export function createDeliveryStore(engine: SqlEngine, compiler: StatementCompiler): DeliveryStore {
  const statements = { ...deliveryStatements(compiler), insertFeed: feedInserts(compiler) };
  const list = (query: DeliveryQuery) => {
    const { webhookId, state, before, limit } = query;
    const args = { webhookId, limit, seq: before?.seq ?? Number.MAX_SAFE_INTEGER, id: before?.id ?? '' };
    return state === undefined
      ? listRows(statements.list, args, toDelivery)
      : listRows(statements.listInState, { ...args, state }, toDelivery);
  };
  return {
    ...leasedWork<Delivery, DeliveryKey, Schema['webhook_deliveries']>(engine, statements, {
      key: KEY,
      toItem: toDelivery,
    }),
    claim: (claim, without = NONE) => engine.writeUnsynced(() => claimFairly(statements, claim, without)),
    findNextDueAt: (without = NONE) => engine.snapshot(() => nextDeliveryAt(statements, without)),
    settle: ({ id }, holder, settlement) =>
      // Sent at least once: after a power cut, it may be sent again.
      engine.writeUnsynced(function* () {
        return (yield* settle(statements, { id, holder }, settlement)) ? 'settled' : 'lost';
      }),
    list: (query) => engine.read(() => list(query)),
    replay: (webhookId, id, at) => engine.write(() => changes(statements.replay, { webhookId, id, at })),
    measure: () =>
      engine.read(function* () {
        const row = yield* first(statements.measure, {});
        const { waiting = 0, untried = 0, oldest = null } = row ?? {};
        return { untried, retrying: waiting - untried, oldestAt: oldest };
      }),
    expire: (before, limit) => engine.write(() => execute(statements.expire, { before, limit })),
  };
}

interface Endpoint {
  readonly id: string;
  readonly free: number;
  readonly dueAt: Instant;
}

/** Endpoints with a delivery that could be claimed once it is due. */
function* listEndpoints(
  statements: Pick<DeliveryStatements, 'listEndpoints'>,
  now: Instant,
  without: ReadonlySet<string>,
): Operation<readonly Endpoint[]> {
  const rows = (yield* all(statements.listEndpoints, { now })).filter(({ id }) => !without.has(id));
  return rows.flatMap(({ id, failing_since, leased, due_at }) => {
    const free = (failing_since === null ? SHARE : SHARE_OF_FAILING) - Number(leased ?? 0);
    return due_at === null || free <= 0 ? [] : [{ id, free, dueAt: due_at }];
  });
}

// SPEC X31
function* claimFairly(
  statements: DeliveryStatements,
  { holder, now, leaseUntil, limit }: WorkClaim,
  without: ReadonlySet<string>,
): Operation<readonly Delivery[]> {
  const due = (yield* listEndpoints(statements, now, without)).filter(({ dueAt }) => dueAt <= now);
  const turns = due.toSorted((a, b) => a.dueAt - b.dueAt).slice(0, limit);
  const share = Math.max(1, Math.floor(limit / Math.max(1, turns.length)));
  const calls = turns.map(({ id, free }) =>
    callOf(statements.findClaimableOf, { webhookId: id, now, limit: Math.min(free, share) }),
  );
  const rows = yield* allOf<Schema['webhook_deliveries']>(calls);
  yield* executeAll(rows.map(({ id }) => callOf(statements.lease, { id, holder, leaseUntil })));
  return rows.map(toDelivery);
}

/** A lease that a dead server left ends by itself, and its end is waited for like a due time. */
export function* nextDeliveryAt(
  statements: Pick<DeliveryStatements, 'listEndpoints' | 'findLeaseEnd'>,
  without: ReadonlySet<string> = NONE,
): Operation<Instant | undefined> {
  const never = Number.MIN_SAFE_INTEGER;
  const due = (yield* listEndpoints(statements, never, without)).map(({ dueAt }) => dueAt);
  const [leased] = yield* all(statements.findLeaseEnd, {});
  const instants = [...due, ...(leased?.lease_until == null ? [] : [leased.lease_until])];
  return instants.length === 0 ? undefined : Math.min(...instants);
}

function* settle(
  statements: DeliveryStatements,
  lease: DeliveryKey & { readonly holder: string },
  settlement: DeliverySettlement,
): Operation<boolean> {
  switch (settlement.kind) {
    case 'postpone':
      return (yield* execute(statements.postpone, { ...lease, dueAt: settlement.dueAt })) > 0;
    case 'delivered': {
      if (!(yield* endAttempt(statements, lease, { ...settlement, state: 'DELIVERED' }))) return false;
      yield* execute(statements.recover, lease);
      return true;
    }
    case 'dropped':
      return yield* endAttempt(statements, lease, { ...settlement, state: 'FAILED' });
    case 'failed':
      return yield* settleFailure(statements, lease, settlement);
  }
}

type Delivered = Extract<DeliverySettlement, { readonly kind: 'delivered' }>;
type Ended = Pick<Delivered, 'at' | 'status' | 'error'> & { readonly state: Delivery['state'] };

function endAttempt(
  statements: DeliveryStatements,
  lease: DeliveryKey & { readonly holder: string },
  { at, status, error, state }: Ended,
): Operation<boolean> {
  return changes(statements.end, { ...lease, at, status, error, state });
}

// SPEC X33
function* settleFailure(
  statements: DeliveryStatements,
  lease: DeliveryKey & { readonly holder: string },
  settlement: Extract<DeliverySettlement, { readonly kind: 'failed' }>,
): Operation<boolean> {
  const { at, status, error, dueAt, disable } = settlement;
  const tried = { ...lease, at, status, error };
  const isHeld =
    dueAt === null
      ? yield* endAttempt(statements, lease, { ...settlement, state: 'FAILED' })
      : yield* changes(statements.retry, { ...tried, dueAt });
  if (!isHeld) return false;
  yield* execute(statements.fail, { id: lease.id, at });
  if (yield* changes(statements.disable, { id: lease.id, at, failingSince: disable.failingSince })) {
    yield* execute(statements.endAll, { id: lease.id });
    yield* executeAll(statements.insertFeed(disable.feed));
  }
  return true;
}

export function deliveryStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  const waiting = builder.selectFrom('webhook_deliveries').where('state', '=', PENDING).where(isFirstOfLine);
  return {
    ...workStatements<DeliveryKey, 'webhook_deliveries'>(compiler, {
      table: 'webhook_deliveries',
      key: KEY,
      waiting,
      order: ['seq'],
    }),
    ...claimStatements(compiler),
    ...settlementStatements(compiler),
    ...listStatements(compiler),
  };
}

/** Deliveries whose first attempt is still to come keep the order of their line. */
// SPEC X32
function isFirstOfLine(eb: ExpressionBuilder<Schema, 'webhook_deliveries'>) {
  const earlier = eb
    .selectFrom('webhook_deliveries as earlier')
    .select(sql.lit(1).as('one'))
    .whereRef('earlier.webhook_id', '=', 'webhook_deliveries.webhook_id')
    .whereRef('earlier.line', '=', 'webhook_deliveries.line')
    .whereRef('earlier.seq', '<', 'webhook_deliveries.seq')
    .where('earlier.state', '=', PENDING)
    .where('earlier.attempts', '=', sql.lit(0));
  return eb.or([eb('webhook_deliveries.attempts', '>', sql.lit(0)), eb.not(eb.exists(earlier))]);
}

function claimStatements(compiler: StatementCompiler) {
  const { builder, hasRowLocks } = compiler.dialect;
  const claimable = (now: number) =>
    builder
      .selectFrom('webhook_deliveries')
      .where('webhook_deliveries.state', '=', PENDING)
      .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<=', now)]))
      .where(isFirstOfLine)
      .orderBy('due_at')
      .orderBy('seq');
  return {
    listEndpoints: compiler.statement<{ now: number }>()((param) =>
      builder
        .selectFrom('webhooks')
        .select(['webhooks.id', 'webhooks.failing_since'])
        .select((eb) => [
          eb
            .selectFrom('webhook_deliveries')
            .select((of) => of.fn.countAll<number>().as('count'))
            .whereRef('webhook_id', '=', 'webhooks.id')
            .where('lease_until', '>', param('now'))
            .as('leased'),
          claimable(param('now'))
            .select('due_at')
            .where('webhook_id', '=', eb.ref('webhooks.id'))
            .limit(1)
            .as('due_at'),
        ])
        .where('disabled_at', 'is', null),
    ),
    findClaimableOf: compiler.statement<{ webhookId: string; now: number; limit: number }>()((param) =>
      claimable(param('now'))
        .selectAll()
        .where('webhook_id', '=', param('webhookId') as Delivery['webhookId'])
        .where('due_at', '<=', param('now'))
        .limit(param('limit'))
        .$if(hasRowLocks, (query) => query.forUpdate().skipLocked()),
    ),
    findLeaseEnd: compiler.statement<object>()(() =>
      builder
        .selectFrom('webhook_deliveries')
        .select((eb) => eb.fn.min('lease_until').as('lease_until'))
        .where('lease_until', 'is not', null),
    ),
  };
}

interface Tried {
  readonly at: number;
  readonly status: number | null;
  readonly error: string | null;
}

function settlementStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  const held = heldRows<DeliveryKey>(compiler, { table: 'webhook_deliveries', key: KEY });
  const ofDelivery = (id: string) =>
    builder.selectFrom('webhook_deliveries').select('webhook_id').where('webhook_deliveries.id', '=', id);
  const tried = { ...UNLEASED, attempts: sql`attempts + 1` };
  return {
    postpone: held.update<{ dueAt: number }>((param) => ({ ...UNLEASED, due_at: param('dueAt') })),
    end: held.update<Tried & { state: Delivery['state'] }>((param) => ({
      ...tried,
      state: param('state'),
      tried_at: param('at'),
      last_status: param('status'),
      last_error: param('error'),
    })),
    retry: held.update<Tried & { dueAt: number }>((param) => ({
      ...tried,
      due_at: param('dueAt'),
      tried_at: param('at'),
      last_status: param('status'),
      last_error: param('error'),
    })),
    recover: compiler.statement<DeliveryKey>()((param) =>
      builder
        .updateTable('webhooks')
        .set({ failing_since: null })
        .where('id', '=', ofDelivery(param('id')))
        .where('failing_since', 'is not', null),
    ),
    fail: compiler.statement<DeliveryKey & { at: number }>()((param) =>
      builder
        .updateTable('webhooks')
        .set({ failing_since: param('at') })
        .where('id', '=', ofDelivery(param('id')))
        .where('failing_since', 'is', null),
    ),
    disable: compiler.statement<DeliveryKey & { at: number; failingSince: number }>()((param) =>
      builder
        .updateTable('webhooks')
        .set({ disabled_at: param('at') })
        .where('id', '=', ofDelivery(param('id')))
        .where('disabled_at', 'is', null)
        .where('failing_since', '<=', param('failingSince')),
    ),
    endAll: compiler.statement<DeliveryKey>()((param) =>
      builder
        .updateTable('webhook_deliveries')
        .set({ ...UNLEASED, state: 'FAILED' })
        .where('webhook_id', '=', ofDelivery(param('id')))
        .where('state', '=', PENDING),
    ),
    replay: compiler.statement<{ webhookId: string; id: string; at: number }>()((param) =>
      builder
        .updateTable('webhook_deliveries')
        .set({ state: 'PENDING', attempts: 0, due_at: param('at') })
        .where('id', '=', param('id'))
        .where('webhook_id', '=', param('webhookId') as Delivery['webhookId']),
    ),
  };
}

function listStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  type Page = { webhookId: string; seq: number; id: string; limit: number };
  const page = ({ webhookId, seq, id, limit }: Page) =>
    builder
      .selectFrom('webhook_deliveries')
      .selectAll()
      .where('webhook_id', '=', webhookId as Delivery['webhookId'])
      .where(({ eb, refTuple, tuple }) => eb(refTuple('seq', 'id'), '<', tuple(seq, id)))
      .orderBy('seq', 'desc')
      .orderBy('id', 'desc')
      .limit(limit);
  const named = (param: <Key extends keyof Page>(name: Key) => Page[Key]): Page => ({
    webhookId: param('webhookId'),
    seq: param('seq'),
    id: param('id'),
    limit: param('limit'),
  });
  return {
    list: compiler.statement<Page>()((param) => page(named(param))),
    listInState: compiler.statement<Page & { state: Delivery['state'] }>()((param) =>
      page(named(param)).where('state', '=', param('state')),
    ),
    measure: compiler.statement<object>()(() =>
      builder
        .selectFrom('webhook_deliveries')
        .where('state', '=', PENDING)
        .select((eb) => [
          eb.fn.countAll<number>().as('waiting'),
          sql<number>`count(case when attempts = 0 then 1 end)`.as('untried'),
          eb.fn.min<number | null>('created_at').as('oldest'),
        ]),
    ),
    expire: compiler.statement<{ before: number; limit: number }>()((param) =>
      builder
        .deleteFrom('webhook_deliveries')
        .where('id', 'in', (eb) =>
          eb
            .selectFrom('webhook_deliveries')
            .select('id')
            .where('created_at', '<', param('before'))
            .where('state', '<>', PENDING)
            .orderBy('created_at')
            .limit(param('limit')),
        ),
    ),
  };
}

import type { Instant } from '../../lib/clock.ts';
import type { WorkClaim } from '../leased-work.ts';
import type { Delivery, DeliveryKey, DeliveryQuery, DeliverySettlement, DeliveryStore } from '../webhooks.ts';
import { feedInserts } from './feed-waiting.ts';
import { leasedWork, RELEASED, workStatements } from './leased-work.ts';
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

// SPEC X32
const WAITING = `webhook_deliveries.state = 'PENDING' and (webhook_deliveries.attempts > 0 or not exists (
  select 1 from webhook_deliveries as earlier
  where earlier.webhook_id = webhook_deliveries.webhook_id and earlier.line = webhook_deliveries.line
  and earlier.seq < webhook_deliveries.seq and earlier.state = 'PENDING' and earlier.attempts = 0))`;

const FREE = '(lease_until is null or lease_until <= :now)';
const HELD = 'where id = :id and lease_holder = :holder';
const TRIED =
  `${RELEASED}, attempts = attempts + 1, tried_at = :at, last_status = :status, last_error = :error` as const;
const ENDPOINT = '(select webhook_id from webhook_deliveries where webhook_deliveries.id = :id)';
const PAGE = 'select * from webhook_deliveries where webhook_id = :webhookId and (seq, id) < (:seq, :id)';
const NEWEST_FIRST = 'order by seq desc, id desc limit :limit';

export function deliveryStatements(compiler: StatementCompiler) {
  const { sql } = compiler;
  return {
    ...workStatements<DeliveryKey, 'webhook_deliveries'>(compiler, {
      table: 'webhook_deliveries',
      key: KEY,
      waiting: WAITING,
      order: ['seq'],
    }),
    listEndpoints: sql(`
      select webhooks.id, webhooks.failing_since,
        (select count(*) from webhook_deliveries where webhook_id = webhooks.id and lease_until > :now) as leased,
        (select due_at from webhook_deliveries where ${WAITING} and ${FREE} and webhook_id = webhooks.id
          order by due_at, seq limit 1) as due_at
      from webhooks where disabled_at is null`),
    findClaimableOf: sql(`
      select * from webhook_deliveries where ${WAITING} and ${FREE} and webhook_id = :webhookId and due_at <= :now
      order by due_at, seq limit :limit for update skip locked`),
    findLeaseEnd: sql('select min(lease_until) as lease_until from webhook_deliveries where lease_until is not null'),
    postpone: sql(`update webhook_deliveries set ${RELEASED}, due_at = :dueAt ${HELD}`),
    end: sql(`update webhook_deliveries set ${TRIED}, state = :state ${HELD}`),
    retry: sql(`update webhook_deliveries set ${TRIED}, due_at = :dueAt ${HELD}`),
    recover: sql(`update webhooks set failing_since = null where id = ${ENDPOINT} and failing_since is not null`),
    fail: sql(`update webhooks set failing_since = :at where id = ${ENDPOINT} and failing_since is null`),
    disable: sql(`
      update webhooks set disabled_at = :at
      where id = ${ENDPOINT} and disabled_at is null and failing_since <= :failingSince`),
    endAll: sql(`
      update webhook_deliveries set ${RELEASED}, state = 'FAILED' where webhook_id = ${ENDPOINT} and state = 'PENDING'`),
    replay: sql(`
      update webhook_deliveries set state = 'PENDING', attempts = 0, due_at = :at
      where id = :id and webhook_id = :webhookId`),
    list: sql(`${PAGE} ${NEWEST_FIRST}`),
    listInState: sql(`${PAGE} and state = :state ${NEWEST_FIRST}`),
    measure: sql(`
      select count(*) as waiting, count(case when attempts = 0 then 1 end) as untried, min(created_at) as oldest
      from webhook_deliveries where state = 'PENDING'`),
    expire: sql(`
      delete from webhook_deliveries where id in (
        select id from webhook_deliveries where created_at < :before and state <> 'PENDING'
        order by created_at limit :limit)`),
  };
}

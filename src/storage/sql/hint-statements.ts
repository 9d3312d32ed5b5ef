import { type ExpressionBuilder, sql } from 'kysely';
import type { Schema } from './schema.ts';
import type { StatementCompiler } from './statement.ts';

/** No instant is earlier. Said although it says nothing: an index is then searched from its beginning. */
const EVER = sql.lit(Number.MIN_SAFE_INTEGER);
/** By the column itself, SQLite would read the whole table, which is in that order, and not only what is due. */
const HOST = sql<string>`host || ''`;
const UNLEASED = { lease_holder: null, lease_until: null };

export function hintStatements(compiler: StatementCompiler) {
  return {
    ...additionStatements(compiler),
    ...claimStatements(compiler),
    ...settlementStatements(compiler),
    ...leaseStatements(compiler),
    ...tidyStatements(compiler),
  };
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

function claimStatements(compiler: StatementCompiler) {
  const { builder, hasRowLocks } = compiler.dialect;
  const waiting = builder.selectFrom('hints').where('remembered_until', 'is', null);
  return {
    findClaimable: compiler.statement<{ now: number; limit: number }>()((param) =>
      waiting
        .selectAll()
        .where('due_at', '<=', param('now'))
        .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<=', param('now'))]))
        .orderBy('due_at')
        .orderBy('host')
        .orderBy('key')
        .limit(param('limit'))
        .$if(hasRowLocks, (query) => query.forUpdate().skipLocked()),
    ),
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

type Lease = { host: string; key: string; holder: string };
type SeenLease = Lease & { version: number };

function settlementStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  const update = builder.updateTable('hints').set(UNLEASED);
  return {
    remove: compiler.statement<SeenLease>()((param) =>
      builder
        .deleteFrom('hints')
        .where('host', '=', param('host'))
        .where('key', '=', param('key'))
        .where('lease_holder', '=', param('holder'))
        .where('version', '=', param('version')),
    ),
    remember: compiler.statement<Lease & { until: number }>()((param) =>
      update
        .set({ remembered_until: param('until'), attempts: 0 })
        .where('host', '=', param('host'))
        .where('key', '=', param('key'))
        .where('lease_holder', '=', param('holder')),
    ),
    fail: compiler.statement<Lease & { dueAt: number }>()((param) =>
      update
        .set((eb) => ({ due_at: param('dueAt'), attempts: eb('attempts', '+', 1) }))
        .where('host', '=', param('host'))
        .where('key', '=', param('key'))
        .where('lease_holder', '=', param('holder')),
    ),
    postpone: compiler.statement<SeenLease & { dueAt: number }>()((param) =>
      update
        .set({ due_at: param('dueAt'), attempts: 0 })
        .where('host', '=', param('host'))
        .where('key', '=', param('key'))
        .where('lease_holder', '=', param('holder'))
        .where('version', '=', param('version')),
    ),
    replace: compiler.statement<SeenLease & { dueAt: number; body: string }>()((param) =>
      update
        .set({ due_at: param('dueAt'), body: param('body'), attempts: 0 })
        .where('host', '=', param('host'))
        .where('key', '=', param('key'))
        .where('lease_holder', '=', param('holder'))
        .where('version', '=', param('version')),
    ),
    releaseWith: compiler.statement<Lease & { readonly body: string }>()((param) =>
      update
        .set({ attempts: 0, body: param('body') })
        .where('host', '=', param('host'))
        .where('key', '=', param('key'))
        .where('lease_holder', '=', param('holder')),
    ),
    release: compiler.statement<Lease>()((param) =>
      update
        .set({ attempts: 0 })
        .where('host', '=', param('host'))
        .where('key', '=', param('key'))
        .where('lease_holder', '=', param('holder')),
    ),
  };
}

function leaseStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    lease: compiler.statement<Lease & { leaseUntil: number }>()((param) =>
      builder
        .updateTable('hints')
        .set({ lease_holder: param('holder'), lease_until: param('leaseUntil') })
        .where('host', '=', param('host'))
        .where('key', '=', param('key')),
    ),
    renew: compiler.statement<Lease & { leaseUntil: number }>()((param) =>
      builder
        .updateTable('hints')
        .set({ lease_until: param('leaseUntil') })
        .where('host', '=', param('host'))
        .where('key', '=', param('key'))
        .where('lease_holder', '=', param('holder')),
    ),
    endLeases: compiler.statement<object>()(() =>
      builder.updateTable('hints').set(UNLEASED).where('lease_until', '>=', EVER),
    ),
    endLeasesOf: compiler.statement<{ holder: string }>()((param) =>
      builder
        .updateTable('hints')
        .set(UNLEASED)
        .where('lease_until', '>=', EVER)
        .where('lease_holder', '=', param('holder')),
    ),
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

import { sql } from 'kysely';
import type { WaitingStore } from '../waiting.ts';
import { hintStatements } from './hints.ts';
import { nextDueAt } from './leased-work.ts';
import { type SqlEngine, together } from './operation.ts';
import { effectStatements } from './queue-effects.ts';
import { callOf, type StatementCompiler } from './statement.ts';
import { IS_WAITING } from './upload-statements.ts';
import { deliveryStatements, nextDeliveryAt } from './webhook-deliveries.ts';

export function createWaitingStore(engine: SqlEngine, compiler: StatementCompiler): WaitingStore {
  const [effects, hints] = [effectStatements(compiler), hintStatements(compiler)];
  const deliveries = deliveryStatements(compiler);
  const statements = waitingStatements(compiler);
  return {
    // SPEC D40
    read: () =>
      engine.snapshot(function* () {
        const [events, changes, uploads, entries, behind, placed] = yield* together(
          callOf(statements.hasEvents, {}),
          callOf(statements.hasChanges, {}),
          callOf(statements.hasUploads, {}),
          callOf(statements.hasEntries, {}),
          callOf(statements.isBehind, {}),
          callOf(statements.placed, {}),
        );
        return {
          effectsAt: yield* nextDueAt(effects),
          hintsAt: yield* nextDueAt(hints),
          deliveriesAt: yield* nextDeliveryAt(deliveries),
          hasEvents: events.length + changes.length > 0,
          placed: Number(placed[0]?.count ?? 0),
          isWebhookBehind: behind.length > 0,
          hasUploads: uploads.length > 0,
          hasEntries: entries.length > 0,
        };
      }),
  };
}

export function waitingStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  const one = sql.lit(1).as('one');
  return {
    hasEvents: compiler.statement<object>()(() => builder.selectFrom('feed_waiting').select(one).limit(1)),
    hasChanges: compiler.statement<object>()(() =>
      builder.selectFrom('queue_changes').select(one).where('feed', 'is not', null).limit(1),
    ),
    hasUploads: compiler.statement<object>()(() =>
      builder.selectFrom('uploads').select(one).where(IS_WAITING).limit(1),
    ),
    hasEntries: compiler.statement<object>()(() =>
      builder
        .selectFrom('queues')
        .select(one)
        .where('deleted_at', 'is', null)
        .where((eb) =>
          eb.exists(
            eb
              .selectFrom('entries')
              .select(one)
              .whereRef('entries.queue_id', '=', 'queues.id')
              .where('entries.is_live', '=', true),
          ),
        )
        .limit(1),
    ),
    isBehind: compiler.statement<object>()(() =>
      builder
        .selectFrom('webhooks')
        .innerJoin('feed_heads', 'feed_heads.organization_id', 'webhooks.organization_id')
        .select(one)
        .where('disabled_at', 'is', null)
        .whereRef('cursor', '<', 'last_seq')
        .limit(1),
    ),
    placed: compiler.statement<object>()(() =>
      builder.selectFrom('feed_heads').select((eb) => eb.fn.sum<number | null>('last_seq').as('count')),
    ),
  };
}
